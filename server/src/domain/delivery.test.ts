import assert from 'node:assert/strict';
import { suite, test } from 'node:test';
import { boundTimes, type Delivery, giveUpAt } from './delivery.ts';

const PARKED_AT = 1_000_000;
const LONGEST_MS = 5_500;
const DAY_MS = 86_400_000;

function bounded(times: Partial<Delivery>): Delivery {
  const delivery = { id: 'dlv_1', takenAt: 0, attempts: 1, dueAt: 0, history: [], ...times } as unknown as Delivery;
  return boundTimes(delivery, PARKED_AT, LONGEST_MS);
}

suite('the times of a delivery that was parked', () => {
  test('stay as they are when they can be true', () => {
    const times = { takenAt: PARKED_AT - 3_000, firstAttemptAt: PARKED_AT - 2_000, dueAt: PARKED_AT + LONGEST_MS };
    assert.deepEqual(bounded(times), { id: 'dlv_1', attempts: 1, history: [], ...times });
  });

  test('are not later than its tier’s delay after it was parked', () => {
    assert.equal(bounded({ dueAt: PARKED_AT + DAY_MS }).dueAt, PARKED_AT + LONGEST_MS);
  });

  test('give it its window from when it was parked at the latest', () => {
    for (const times of [{ takenAt: PARKED_AT + DAY_MS }, { takenAt: 0, firstAttemptAt: PARKED_AT + DAY_MS }]) {
      assert.ok(giveUpAt(bounded(times), 1_000) <= PARKED_AT + 1_000);
    }
    assert.equal(bounded({ takenAt: PARKED_AT + DAY_MS }).firstAttemptAt, undefined);
  });
});
