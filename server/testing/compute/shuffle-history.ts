import assert from 'node:assert/strict';
import { pruneState } from '../../src/compute/fold/evaluate.ts';
import { readBatch } from '../../src/compute/fold/fold-batch.ts';
import type { SourceEvent } from '../../src/compute/fold/incoming-event.ts';
import type { Plan } from '../../src/compute/fold/plan.ts';
import { decodeState, encodeFacts } from '../../src/compute/state/profile-state.ts';
import { openDice } from './dice.ts';
import { openMemoryProfiles } from './memory-profiles.ts';
import { randomHistory, STARTS_AT } from './random-history.ts';
import { openRandomWorkspace } from './random-workspace.ts';

const DAY_MS = 86_400_000;
const END = STARTS_AT + 3_000 * DAY_MS;

/**
 * Events in another order, and in batches cut elsewhere, give equal bytes, devices that are linked later included. Devices of two users
 * are left out: there the order decides.
 */
export function shuffleHistory(seed: number): void {
  const dice = openDice(seed);
  const { plan } = openRandomWorkspace(dice, 6);
  const stepMs = dice.pick([60_000, 3 * DAY_MS]);
  // Repeated calls are recognised within a day, so only histories of a few hours have them.
  const events = randomHistory(dice, { events: 40, stepMs, isOrderFree: true, hasDuplicates: stepMs === 60_000 });
  const last = Math.max(...events.map(({ event }) => Date.parse(event.receivedAt)));
  const single = events.map((event) => [event]);
  const shuffled: SourceEvent[][] = [];
  for (const left = dice.shuffle(events); left.length > 0; ) shuffled.push(left.splice(0, dice.whole(1, 9)));
  for (const now of [last, END])
    assert.deepEqual(factsOf(shuffled, plan, now), factsOf(single, plan, now), `seed ${seed}`);
}

/** The facts of all profiles. */
function factsOf(batches: readonly SourceEvent[][], plan: Plan, now: number): Map<string, string> {
  const memory = openMemoryProfiles();
  for (const events of batches) memory.fold(readBatch(events, () => plan));
  const facts = [...memory.profiles.values()].map(({ key, state }): [string, string] => {
    const decoded = decodeState(state);
    pruneState(decoded, plan, now);
    return [key, Buffer.from(encodeFacts(decoded)).toString('hex')];
  });
  return new Map(facts.toSorted(([a], [b]) => (a < b ? -1 : 1)));
}
