import { suite, test } from 'node:test';
import { shuffleHistory } from '../../../testing/compute/shuffle-history.ts';

suite('events in another order', () => {
  test('give equal bytes, devices that are linked later included', () => {
    for (let seed = 1; seed <= 150; seed += 1) shuffleHistory(seed);
  });
});
