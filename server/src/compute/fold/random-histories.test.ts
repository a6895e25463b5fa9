import assert from 'node:assert/strict';
import { suite, test } from 'node:test';
import { runHistory } from '../../../testing/compute/run-history.ts';

/** `node server/testing/compute/check-histories.ts 10000` runs as many as are asked for. */
const HISTORIES = 200;

suite('random histories', () => {
  test('give the values and the transitions of the oracle, however batches are cut', () => {
    let transitions = 0;
    for (let seed = 1; seed <= HISTORIES; seed += 1) transitions += runHistory(seed).transitions;
    assert.ok(transitions > 5 * HISTORIES, 'and there is something to compare');
  });

  test('give the values of the oracle when timers run ahead of a reader', () => {
    for (let seed = 1; seed <= HISTORIES / 4; seed += 1) runHistory(seed, { isAhead: true });
  });
});
