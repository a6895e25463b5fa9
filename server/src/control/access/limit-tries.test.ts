import assert from 'node:assert/strict';
import { suite, test } from 'node:test';
import { openTryLimiter } from './limit-tries.ts';

suite('the limit of tries', () => {
  test('allows so many a minute, each name by itself, and again a minute later', () => {
    let nowMs = 0;
    const tries = openTryLimiter(() => nowMs);
    const take = (key: string) => tries.take(key, 2);
    assert.deepEqual([take('a'), take('a'), take('a'), take('b')], [true, true, false, true]);
    nowMs = 59_999;
    assert.equal(take('a'), false);
    nowMs = 60_000;
    assert.equal(take('a'), true);
  });

  test('forgets the tries of whoever got it right', () => {
    const tries = openTryLimiter(() => 0);
    tries.take('a', 1);
    tries.forget('a');
    assert.equal(tries.take('a', 1), true);
  });

  test('keeps those who try again and again, however many names are made up meanwhile', () => {
    const tries = openTryLimiter(() => 0);
    tries.take('guesser', 1);
    for (let i = 0; i < 100_000; i += 1) {
      tries.take(`made up ${i}`, 1);
      if (i % 1_000 === 0) assert.equal(tries.take('guesser', 1), false);
    }
    assert.equal(tries.take('made up 0', 1), true);
  });
});
