import assert from 'node:assert/strict';
import { suite, test } from 'node:test';
import { openDice } from '../../../testing/compute/dice.ts';
import { openMemoryProfiles } from '../../../testing/compute/memory-profiles.ts';
import { foldedInto } from '../../../testing/compute/plans.ts';
import { randomHistory, STARTS_AT } from '../../../testing/compute/random-history.ts';
import { openRandomWorkspace } from '../../../testing/compute/random-workspace.ts';
import { decodeState, encodeFacts } from '../state/profile-state.ts';
import { pruneState } from './evaluate.ts';
import type { SourceEvent } from './incoming-event.ts';
import type { Plan } from './plan.ts';

const END = STARTS_AT + 3_000 * 86_400_000;

/** The facts of all profiles, each event in a batch of its own. */
function factsOf(events: readonly SourceEvent[], plan: Plan, now: number): Map<string, string> {
  const memory = openMemoryProfiles();
  for (const event of events) foldedInto(memory, plan, [event]);
  const facts = [...memory.profiles.values()].map(({ key, state }): [string, string] => {
    const decoded = decodeState(state);
    pruneState(decoded, plan, now);
    return [key, Buffer.from(encodeFacts(decoded)).toString('hex')];
  });
  return new Map(facts.toSorted(([a], [b]) => (a < b ? -1 : 1)));
}

suite('events in another order', () => {
  test('give equal bytes, devices that are linked later included', () => {
    for (let seed = 1; seed <= 150; seed += 1) {
      const dice = openDice(seed);
      const { plan } = openRandomWorkspace(dice, 6);
      const stepMs = dice.pick([60_000, 3 * 86_400_000]);
      // Repeated calls are recognised within a day, so only histories of a few hours have them.
      const events = randomHistory(dice, { events: 40, stepMs, isOrderFree: true, hasDuplicates: stepMs === 60_000 });
      const last = Math.max(...events.map(({ event }) => Date.parse(event.receivedAt)));
      for (const now of [last, END])
        assert.deepEqual(factsOf(dice.shuffle(events), plan, now), factsOf(events, plan, now), `seed ${seed}`);
    }
  });
});
