/**
 * `node server/testing/compute/measure-fold.ts [users] [events]`: CPU time an event of the pure fold, with decoding and encoding, and the
 * size of states; 50 definitions over 12 event names, 2 % late by up to 10 days, 0.5 % twice. No engine takes part.
 */
import type { AcceptedEvent } from '@millrace/contract';
import type { Definition } from '@millrace/contract/audiences';
import { compilePlan, type DefinitionInPlan } from '../../src/compute/fold/compile-plan.ts';
import { readBatch } from '../../src/compute/fold/fold-batch.ts';
import type { SourceEvent } from '../../src/compute/fold/incoming-event.ts';
import { assignSlots, type StoredMeasure } from '../../src/compute/fold/measure-need.ts';
import type { LinkTarget, StoredProfile } from '../../src/compute/profiles/profile-store.ts';
import { runTimers } from '../../src/compute/fold/advance-profiles.ts';
import { type Dice, openDice } from './dice.ts';
import { sizesOf } from './state-sizes.ts';

const [users = 40_000, events = 200_000] = process.argv.slice(2).map(Number);
const DAY_MS = 86_400_000;
const STARTS_AT = Date.UTC(2026, 8, 1);
const SPAN_MS = 30 * DAY_MS;
const BATCH = 1_000;
const NAMES = Array.from({ length: 12 }, (_, n) => `Event ${n}`);
const WINDOWS = ['1d', '7d', '7d', '30d', '30d', '90d', '365d'];

export function fiftyDefinitions(dice: Dice): DefinitionInPlan[] {
  const definitions: DefinitionInPlan[] = [];
  const inUse: StoredMeasure[] = [];
  for (let number = 1; number <= 50; number += 1) {
    const definition = definitionOf(dice, number);
    const measures = assignSlots(definition, inUse, 1 + Math.max(0, ...inUse.map(({ slot }) => slot)));
    inUse.push(...measures);
    definitions.push({ number, id: `aud_${number}`, definition, version: 1, changed: 1, measures, use: 'evaluated' });
  }
  return definitions;
}

function definitionOf(dice: Dice, number: number): Definition {
  const leaf = () => ({ event: dice.pick(NAMES), window: dice.pick(WINDOWS) });
  const revenue = { event: dice.pick(NAMES.slice(0, 3)), sum: 'properties.revenue', window: '30d', atLeast: 100 };
  const name = `Definition ${number}`;
  switch (number % 5) {
    case 0:
      return { kind: 'trait', name, compute: 'count', ...leaf() };
    case 1:
      return { kind: 'audience', name, when: { all: [{ ...leaf(), atLeast: 1 }, { not: { ...leaf(), atLeast: 1 } }] } };
    case 2:
      return { kind: 'audience', name, when: { ...leaf(), atLeast: dice.whole(1, 3) } };
    case 3:
      return { kind: 'audience', name, when: { any: [revenue, { trait: 'plan', op: 'equals', value: 'pro' }] } };
    default:
      return {
        kind: 'audience',
        name,
        when: {
          all: [
            { ...leaf(), lessThan: 3 },
            { ...leaf(), atLeast: 2 },
          ],
        },
      };
  }
}

function eventOf(dice: Dice, n: number, receivedAt: number): SourceEvent {
  const isLate = dice.isWithin(0.02);
  const user = dice.whole(1, users);
  const isIdentify = dice.isWithin(0.05);
  const event = {
    messageId: `0199a1b2-7c3d-7e4f-8a9b-${n.toString(16).padStart(12, '0')}`,
    type: isIdentify ? 'identify' : 'track',
    ...(isIdentify ? { traits: { plan: dice.pick(['free', 'pro']), email: `user-${user}@example.com` } } : {}),
    ...(isIdentify
      ? {}
      : {
          event: dice.pick(NAMES),
          properties: { revenue: dice.whole(100, 9_999) / 100, sku: `sku-${dice.whole(1, 500)}` },
        }),
    userId: `user-${user}`,
    context: {},
    receivedAt: new Date(receivedAt).toISOString(),
    timestamp: new Date(receivedAt - (isLate ? dice.whole(0, 10 * DAY_MS) : 500)).toISOString(),
  };
  return { workspaceId: 'ws_1', sourceId: 'src_1', event: event as unknown as AcceptedEvent };
}

const dice = openDice(7);
const plan = compilePlan(fiftyDefinitions(dice), 1);
const profiles = new Map<string, StoredProfile>();
const links = new Map<string, LinkTarget>();
const report = { cpuMs: 0, threadMs: 0, timerMs: 0, transitions: 0, timers: 0, duplicates: 0, dueChanges: 0 };

function timed<T>(work: () => T): { done: T; cpuMs: number; threadMs: number } {
  const [all, own] = [process.cpuUsage(), process.threadCpuUsage()];
  const done = work();
  const [cpu, thread] = [process.cpuUsage(all), process.threadCpuUsage(own)];
  return { done, cpuMs: (cpu.user + cpu.system) / 1_000, threadMs: (thread.user + thread.system) / 1_000 };
}

function load(chosen: ReadonlySet<string>): Map<string, StoredProfile> {
  return new Map([...chosen].flatMap((key) => (profiles.has(key) ? [[key, profiles.get(key) as StoredProfile]] : [])));
}

function foldOne(done: number): void {
  const at = STARTS_AT + (SPAN_MS * done) / events;
  const batch = Array.from({ length: BATCH }, (_, n) => eventOf(dice, done + n, at + n));
  for (let n = 1; n < BATCH; n += 200) batch[n] = batch[n - 1] ?? eventOf(dice, done, at);
  const {
    done: changes,
    cpuMs,
    threadMs,
  } = timed(() => {
    const read = readBatch(batch, () => plan);
    return read.fold({ links, profiles: load(read.choose(links)) });
  });
  report.cpuMs += cpuMs;
  report.threadMs += threadMs;
  report.transitions += changes.transitions.length;
  report.duplicates += changes.counts.duplicates;
  for (const profile of changes.profiles) {
    if (profiles.get(profile.key)?.dueAt !== profile.dueAt) report.dueChanges += 1;
    profiles.set(profile.key, profile);
  }
  fireTimers(at);
}

function fireTimers(upTo: number): void {
  const due = [...profiles.values()].filter(({ dueAt }) => dueAt !== undefined && dueAt <= upTo);
  const { done: changes, cpuMs } = timed(() => runTimers(due, () => plan, upTo));
  report.timerMs += cpuMs;
  report.timers += due.length;
  report.transitions += changes.transitions.length;
  for (const profile of changes.profiles) profiles.set(profile.key, profile);
}

for (let done = 0; done < events; done += BATCH) foldOne(done);
const figures = {
  measures: plan.measures.size,
  microsecondsAnEvent: (1_000 * report.cpuMs) / events,
  ofThisThread: (1_000 * report.threadMs) / events,
  microsecondsATimer: (1_000 * report.timerMs) / report.timers,
};
console.log(
  JSON.stringify({ users, events, ...figures, ...report, sizes: sizesOf([...profiles.values()], plan) }, null, 1),
);
