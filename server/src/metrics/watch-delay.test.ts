import assert from 'node:assert/strict';
import { suite, test } from 'node:test';
import { watchDelay } from './watch-delay.ts';
import { until } from '../../testing/until.ts';

suite('the delay of the event loop', () => {
  test('is told to all who watch, as long as they do', async () => {
    const seen = { first: 0, second: 0 };
    const first = watchDelay(() => (seen.first += 1));
    using _ = watchDelay(() => (seen.second += 1));
    await until(() => seen.first > 1 && seen.second > 1);
    first[Symbol.dispose]();
    const before = { ...seen };
    await until(() => seen.second > before.second + 2);
    assert.equal(seen.first, before.first);
  });

  test('is that of a loop that was held up', async () => {
    const late: number[] = [];
    using _ = watchDelay((lateMs) => late.push(lateMs));
    await until(() => {
      // A loop that rests is watched too seldom to see the first one.
      const heldUntil = performance.now() + 300;
      while (performance.now() < heldUntil);
      return late.some((ms) => ms > 200);
    });
  });
});
