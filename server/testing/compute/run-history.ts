/**
 * One random history, folded as a server would: two readers in turn, batches cut at random, batches that are lost and done again, timers
 * between batches, definitions that are made, edited and deleted, and the scans after them; one in five has a second workspace whose users
 * have the same ids. The oracle of each workspace sees its events in the same order.
 */
import { readBatch } from '../../src/compute/fold/fold-batch.ts';
import type { SourceEvent } from '../../src/compute/fold/incoming-event.ts';
import type { Plan } from '../../src/compute/fold/plan.ts';
import { compareHistory } from './compare-history.ts';
import { type Dice, openDice } from './dice.ts';
import { type MemoryProfiles, openMemoryProfiles } from './memory-profiles.ts';
import { openOracle, type Oracle } from './oracle.ts';
import { randomHistory, randomOptions, WORKSPACES } from './random-history.ts';
import { openRandomWorkspace, type RandomWorkspace } from './random-workspace.ts';

const DAY_MS = 86_400_000;
/** Numbers of definitions are never the same in two workspaces. */
const NUMBERS_EACH = 1_000;

export type HistoryReport = { events: number; transitions: number; values: number; profiles: number; changes: number };

type Tenant = { workspaceId: string; workspace: RandomWorkspace; oracle: Oracle };
type Run = {
  dice: Dice;
  memory: MemoryProfiles;
  tenants: Tenant[];
  streams: SourceEvent[][];
  isAhead: boolean;
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
  const tenants = openTenants(dice, events);
  const run: Run = { dice, memory: openMemoryProfiles(), tenants, streams, isAhead, changes: 0 };
  while (streams.some(({ length }) => length > 0)) step(run);
  return finish(run, events);
}

function openTenants(dice: Dice, events: readonly SourceEvent[]): Tenant[] {
  const used = WORKSPACES.filter((id) => id === WORKSPACES[0] || events.some(({ workspaceId }) => workspaceId === id));
  return used.map((workspaceId, nth) => {
    const workspace = openRandomWorkspace(dice, dice.whole(1, 8), 1 + nth * NUMBERS_EACH);
    const oracle = openOracle();
    oracle.define(workspace.forOracle(), workspace.plan.version);
    return { workspaceId, workspace, oracle };
  });
}

function planIn({ tenants }: Run): (workspaceId: string) => Plan | undefined {
  return (workspaceId) => tenants.find((each) => each.workspaceId === workspaceId)?.workspace.plan;
}

/** The time up to which both readers have read everything. */
function watermarkOf({ streams }: Run): number {
  return Math.min(...streams.flatMap(([next]) => (next === undefined ? [] : [Date.parse(next.event.receivedAt)])));
}

function step(run: Run): void {
  const { dice, isAhead } = run;
  const chance = dice.next();
  const watermark = watermarkOf(run);
  if (chance < 0.6) read(run);
  else if (chance < 0.8) passTime(run, isAhead ? watermark + dice.whole(0, 20 * DAY_MS) : watermark);
  else if (chance < 0.9 && run.changes < 6) change(run);
  else scan(run, watermark);
}

function passTime(run: Run, upTo: number): void {
  run.memory.runTimers(planIn(run), upTo);
  for (const { oracle } of run.tenants) oracle.pass(upTo);
}

/**
 * A scan leaves profiles alone for which the change of a definition changes nothing, and runs what is due for the others: with timers
 * that have run before, it makes no difference which ones these are.
 */
function scan(run: Run, now: number): void {
  if (!run.isAhead) passTime(run, now);
  run.memory.scan(planIn(run), now);
  for (const { oracle } of run.tenants) oracle.scan(now);
}

function read(run: Run): void {
  const { dice, memory, tenants, streams } = run;
  const stream = dice.pick(streams.filter(({ length }) => length > 0));
  const events = stream.slice(0, dice.whole(1, 12));
  // A process that dies before its commit leaves nothing behind: the next one reads the same events, in other batches.
  if (dice.isWithin(0.1)) {
    const lost = readBatch(events, planIn(run));
    const chosen = lost.choose(memory.links);
    lost.fold({ links: memory.links, profiles: new Map([...memory.profiles].filter(([key]) => chosen.has(key))) });
    return;
  }
  stream.splice(0, events.length);
  memory.fold(readBatch(events, planIn(run)));
  for (const event of events)
    tenants.find(({ workspaceId }) => workspaceId === event.workspaceId)?.oracle.receive(event);
}

function change(run: Run): void {
  const { memory, dice } = run;
  const watermark = watermarkOf(run);
  // Members of a deleted definition leave before it is forgotten, so the scan that tells them has to be over.
  scan(run, watermark);
  const { workspace, oracle } = dice.pick(run.tenants);
  const gone = workspace.change(oracle.received);
  if (gone !== undefined) memory.forget(gone);
  run.changes += 1;
  oracle.define(workspace.forOracle(), workspace.plan.version);
  if (!dice.isWithin(0.3)) scan(run, watermark);
}

function finish(run: Run, events: readonly SourceEvent[]): HistoryReport {
  const { dice, memory, tenants, isAhead, changes } = run;
  const last = Math.max(...events.map(({ event }) => Date.parse(event.receivedAt)));
  const end = last + (isAhead ? 21 * DAY_MS : 0) + dice.pick([0, 3_600_000, 5 * DAY_MS, 100 * DAY_MS, 800 * DAY_MS]);
  scan(run, last);
  passTime(run, end);
  for (const tenant of tenants) compareHistory(memory, tenant, !isAhead);
  return {
    events: events.length,
    transitions: memory.transitions.length,
    values: memory.values().size,
    profiles: memory.profiles.size,
    changes,
  };
}
