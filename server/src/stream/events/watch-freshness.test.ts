import assert from 'node:assert/strict';
import { suite, test } from 'node:test';
import { watchFreshness } from './watch-freshness.ts';

suite('how late a request is taken up', () => {
  test('is told against the least of late, whatever the clocks say', () => {
    for (const offMs of [0, 5_000, -5_000]) {
      const late = watchFreshness();
      const taken = (atMs: number, lagMs: number) => late(atMs - lagMs + offMs, atMs);
      assert.equal(taken(1_000_000, 3), 0, 'the first one tells nothing');
      assert.equal(taken(1_000_100, 2), 0);
      assert.equal(taken(1_000_200, 20), 18);
      assert.equal(taken(1_040_000, 20), 18, 'another span has begun');
      assert.equal(taken(1_080_000, 20), 0, 'and another: this is how it is now');
    }
  });
});
