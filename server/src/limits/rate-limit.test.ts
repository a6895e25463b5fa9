import assert from 'node:assert/strict';
import { suite, test } from 'node:test';
import { openRateLimiter } from './rate-limit.ts';

const LIMIT = { perSecond: 10, burst: 20 };

suite('the rate limit of a source', () => {
  test('lets a burst in, then asks to wait as long as the bucket needs', () => {
    const clock = { now: 0 };
    const limiter = openRateLimiter(() => clock.now);
    assert.equal(limiter.waitSeconds('a', LIMIT), 0);
    limiter.spend('a', 20);
    assert.equal(limiter.waitSeconds('a', LIMIT), 1);
    clock.now = 100;
    assert.equal(limiter.waitSeconds('a', LIMIT), 0, 'one token after a tenth of a second');
  });

  test('takes a batch larger than what is left whole, and the debt is paid before the next', () => {
    const clock = { now: 0 };
    const limiter = openRateLimiter(() => clock.now);
    limiter.waitSeconds('a', LIMIT);
    limiter.spend('a', 120);
    assert.equal(limiter.waitSeconds('a', LIMIT), 11);
    clock.now = 10_100;
    assert.equal(limiter.waitSeconds('a', LIMIT), 0);
  });

  test('never saves up more than the burst, and keeps sources apart', () => {
    const clock = { now: 0 };
    const limiter = openRateLimiter(() => clock.now);
    limiter.waitSeconds('a', LIMIT);
    clock.now = 3_600_000;
    limiter.waitSeconds('a', LIMIT);
    limiter.spend('a', 20);
    assert.equal(limiter.waitSeconds('a', LIMIT), 1);
    assert.equal(limiter.waitSeconds('b', LIMIT), 0);
  });
});

suite('the rate that a key uses', () => {
  test('is what it spent a second, over the last seconds', () => {
    const clock = { now: 0 };
    const limiter = openRateLimiter(() => clock.now);
    limiter.waitSeconds('a', LIMIT);
    for (; clock.now < 20_000; clock.now += 100) limiter.spend('a', 1);
    const [[key, perSecond] = ['', 0]] = limiter.rates();
    assert.equal(key, 'a');
    assert.ok(Math.abs(perSecond - 10) < 0.5, `${perSecond}`);
    clock.now += 60_000;
    assert.deepEqual([...limiter.rates()], [['a', 0]]);
  });
});
