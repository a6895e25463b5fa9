/**
 * One random history, folded as a server would: two readers in turn, batches cut at random, batches that are lost and done again, timers,
 * edits of definitions, and the scans after them. The oracle sees the same events in the same order.
 */
import assert from 'node:assert/strict';
import { readBatch } from '../../src/compute/fold/fold-batch.ts';
import type { SourceEvent } from '../../src/compute/fold/incoming-event.ts';
import { profileKey } from '../../src/compute/profiles/profile-key.ts';
import type { ComputedValue } from '../../src/compute/profiles/profile-store.ts';
import { type Dice, openDice } from './dice.ts';
import { type MemoryProfiles, openMemoryProfiles } from './memory-profiles.ts';
import { openOracle, type Oracle } from './oracle.ts';
import { randomHistory, randomOptions, WORKSPACE } from './random-history.ts';
import { openRandomWorkspace, type RandomWorkspace } from './random-workspace.ts';

const DAY_MS = 86_400_000;

export type HistoryReport = { events: number; transitions: number; values: number; profiles: number; changes: number };

type Run = {
  dice: Dice;
  oracle: Oracle;
  memory: MemoryProfiles;
  workspace: RandomWorkspace;
  streams: SourceEvent[][];
  changes: number;
};

/**
 * `isAhead`: timers run ahead of the readers, as they do when a reader lags. Then single transitions depend on the lag, and only values
 * and the sequences are compared.
 */
export function runHistory(seed: number, { isAhead = false } = {}): HistoryReport {
  const dice = openDice(seed);
  const events = randomHistory(dice, randomOptions(dice));
  const streams: SourceEvent[][] = [[], []];
  for (const event of events) dice.pick(streams).push(event);
  const workspace = openRandomWorkspace(dice, dice.whole(1, 8));
  const run: Run = { dice, oracle: openOracle(), memory: openMemoryProfiles(), workspace, streams, changes: 0 };
  run.oracle.define(workspace.forOracle(), workspace.plan.version);
  while (streams.some(({ length }) => length > 0)) step(run, isAhead);
  return finish(run, events, isAhead);
}

function step(run: Run, isAhead: boolean): void {
  const { dice, oracle, memory, workspace } = run;
  const chance = dice.next();
  const watermark = Math.min(
    ...run.streams.flatMap(([next]) => (next === undefined ? [] : [Date.parse(next.event.receivedAt)])),
  );
  const upTo = isAhead ? watermark + dice.whole(0, 20 * DAY_MS) : watermark;
  if (chance < 0.6) read(run);
  else if (chance < 0.8) {
    memory.runTimers(() => workspace.plan, upTo);
    oracle.pass(upTo);
  } else if (chance < 0.9 && run.changes < 6) change(run);
  else {
    memory.scan(() => workspace.plan, watermark);
    oracle.scan(watermark);
  }
}

function read({ dice, oracle, memory, workspace, streams }: Run): void {
  const stream = dice.pick(streams.filter(({ length }) => length > 0));
  const events = stream.slice(0, dice.whole(1, 12));
  // A process that dies before its commit leaves nothing behind: the next one reads the same events, in other batches.
  if (dice.isWithin(0.1)) {
    const lost = readBatch(events, () => workspace.plan);
    const chosen = lost.choose(memory.links);
    lost.fold({ links: memory.links, profiles: new Map([...memory.profiles].filter(([key]) => chosen.has(key))) });
    return;
  }
  stream.splice(0, events.length);
  memory.fold(readBatch(events, () => workspace.plan));
  for (const event of events) oracle.receive(event);
}

function change(run: Run): void {
  const { workspace, oracle, memory, dice } = run;
  const watermark = Math.min(
    ...run.streams.flatMap(([next]) => (next === undefined ? [] : [Date.parse(next.event.receivedAt)])),
  );
  // Members of a deleted definition leave before it is forgotten, so the scan that tells them has to be over.
  memory.scan(() => workspace.plan, watermark);
  oracle.scan(watermark);
  const gone = workspace.change(oracle.received);
  if (gone !== undefined) memory.forget(gone);
  run.changes += 1;
  oracle.define(workspace.forOracle(), workspace.plan.version);
  if (dice.isWithin(0.3)) return;
  memory.scan(() => workspace.plan, watermark);
  oracle.scan(watermark);
}

function finish(
  { dice, oracle, memory, workspace, changes }: Run,
  events: readonly SourceEvent[],
  isAhead: boolean,
): HistoryReport {
  const last = Math.max(...events.map(({ event }) => Date.parse(event.receivedAt)));
  const end = last + (isAhead ? 21 * DAY_MS : 0) + dice.pick([0, 3_600_000, 5 * DAY_MS, 100 * DAY_MS, 800 * DAY_MS]);
  memory.scan(() => workspace.plan, last);
  oracle.scan(last);
  memory.runTimers(() => workspace.plan, end);
  oracle.pass(end);
  assert.deepEqual(named(memory.values()), oracle.values(), 'every value is the one of the oracle');
  if (!isAhead) assert.deepEqual(transitionsOf(memory), transitionsOfOracle(oracle), 'and so is every transition');
  const values = memory.values().size;
  return {
    events: events.length,
    transitions: memory.transitions.length,
    values,
    profiles: memory.profiles.size,
    changes,
  };
}

const IDS = ['u1', 'u2', 'u3', 'a1', 'a2', 'a3', 'a4'];
const NAMES = new Map(
  IDS.flatMap((id) =>
    (['user', 'anonymous'] as const).map((kind) => [profileKey(WORKSPACE, kind, id), `${kind} ${id}`]),
  ),
);

function named(values: ReadonlyMap<string, ComputedValue>): Map<string, ComputedValue> {
  const entries = [...values].map(([name, value]) => {
    const [key = '', definition] = name.split(' ');
    return [`${NAMES.get(key)} ${definition}`, value] as const;
  });
  return new Map(entries.toSorted(([a], [b]) => (a < b ? -1 : 1)));
}

function transitionsOf({ transitions }: MemoryProfiles): string[] {
  return transitions
    .map(({ key, definition, sequence, value, at }) =>
      line({ profile: NAMES.get(key) ?? key, definition, sequence, value, at }),
    )
    .toSorted();
}

function transitionsOfOracle({ transitions }: Oracle): string[] {
  return transitions.map(line).toSorted();
}

function line({ profile, definition, sequence, value, at }: Oracle['transitions'][number]): string {
  return `${profile} ${definition} ${sequence} ${new Date(at).toISOString()} ${JSON.stringify(value)}`;
}
