import { compilePlan, type DefinitionInPlan } from '../../../server/src/compute/fold/compile-plan.ts';
import { runTimers } from '../../../server/src/compute/fold/advance-profiles.ts';
import { readBatch } from '../../../server/src/compute/fold/fold-batch.ts';
import { assignSlots, type StoredMeasure } from '../../../server/src/compute/fold/measure-need.ts';
import type { Plan } from '../../../server/src/compute/fold/plan.ts';
import type { StoredProfile } from '../../../server/src/compute/profiles/profile-store.ts';
import { type Dice, openDice } from '../../../server/testing/compute/dice.ts';
import { fiftyDefinitions, REPEATED_EVERY, shopCall, shopEvent } from '../audiences/shop.ts';
import type { Verdict } from '../run.ts';
import { round } from '../spread.ts';
import { sizesOf } from './state-sizes.ts';

const STARTS_AT = Date.UTC(2026, 8, 1);
const SPAN_MS = 30 * 86_400_000;
const BATCH = 1_000;

type Run = { users: number; events: number; dice: Dice; plan: Plan; profiles: Map<string, StoredProfile> };
type Sums = { cpuMs: number; timerMs: number; transitions: number; timers: number; duplicates: number };

/** CPU time of an event in the pure fold, with decoding and encoding, and the bytes of states; no engine takes part. */
export function benchFold({ isQuick }: { isQuick: boolean }): Promise<Verdict> {
  const dice = openDice(7);
  const size = isQuick ? { users: 8_000, events: 40_000 } : { users: 40_000, events: 200_000 };
  const run: Run = { ...size, dice, plan: planOf(dice), profiles: new Map() };
  const sums: Sums = { cpuMs: 0, timerMs: 0, transitions: 0, timers: 0, duplicates: 0 };
  for (let done = 0; done < run.events; done += BATCH) foldBatch(run, sums, done);
  const { cpuMs, timerMs, ...counts } = sums;
  const figures = {
    bench: 'fold',
    ...size,
    measures: run.plan.measures.size,
    eventUs: round((1_000 * cpuMs) / run.events),
    timerUs: round((1_000 * timerMs) / Math.max(1, counts.timers)),
    ...counts,
    sizes: sizesOf([...run.profiles.values()], run.plan),
  };
  return Promise.resolve({ isGood: true, figures });
}

function planOf(dice: Dice): Plan {
  const inUse: StoredMeasure[] = [];
  const definitions = fiftyDefinitions(dice).map((definition, nth): DefinitionInPlan => {
    const measures = assignSlots(definition, inUse, 1 + Math.max(0, ...inUse.map(({ slot }) => slot)));
    inUse.push(...measures);
    return { number: nth + 1, id: `aud_${nth}`, definition, version: 1, changed: 1, measures, use: 'evaluated' };
  });
  return compilePlan(definitions, 1);
}

function foldBatch({ users, events, dice, plan, profiles }: Run, sums: Sums, done: number): void {
  const at = STARTS_AT + (SPAN_MS * done) / events;
  const batch = Array.from({ length: BATCH }, (_, n) => shopEvent(shopCall(dice, done + n, { users, at }), at + n));
  for (let n = 1; n < BATCH; n += REPEATED_EVERY) batch.splice(n, 1, ...batch.slice(n - 1, n));
  const folded = timed(() => {
    const read = readBatch(batch, () => plan);
    const chosen = read.choose(new Map());
    const loaded = [...chosen].flatMap((key) => profiles.get(key) ?? []);
    return read.fold({ links: new Map(), profiles: new Map(loaded.map((each) => [each.key, each])) });
  });
  sums.cpuMs += folded.cpuMs;
  sums.transitions += folded.done.transitions.length;
  sums.duplicates += folded.done.counts.duplicates;
  for (const profile of folded.done.profiles) profiles.set(profile.key, profile);
  const due = [...profiles.values()].filter(({ dueAt }) => dueAt !== undefined && dueAt <= at);
  const ran = timed(() => runTimers(due, () => plan, at));
  sums.timerMs += ran.cpuMs;
  sums.timers += due.length;
  sums.transitions += ran.done.transitions.length;
  for (const profile of ran.done.profiles) profiles.set(profile.key, profile);
}

function timed<T>(work: () => T): { done: T; cpuMs: number } {
  const before = process.cpuUsage();
  const done = work();
  const { user, system } = process.cpuUsage(before);
  return { done, cpuMs: (user + system) / 1_000 };
}
