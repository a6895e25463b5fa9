import assert from 'node:assert/strict';
import { suite, test } from 'node:test';
import { openPace } from './pace.ts';

suite('the pace of a job', () => {
  test('is never above its limit, and reaches it', () => {
    let now = 0;
    const pace = openPace(250, () => now);
    let done = 0;
    for (; now < 10_000; now += 37) {
      const room = pace.room();
      pace.spend(room);
      done += room;
      assert.ok(done <= (250 * now) / 1_000, `${done} after ${now} ms`);
    }
    assert.ok(done >= 2_480, `${done} of 2,500`);
  });

  test('does not make up for a long pause', () => {
    let now = 0;
    const pace = openPace(100, () => now);
    now = 60_000;
    assert.equal(pace.room(), 100);
  });

  test('lets one through at last, however low the limit', () => {
    let now = 0;
    const pace = openPace(1, () => now);
    now = 999;
    assert.equal(pace.room(), 0);
    now = 1_000;
    assert.equal(pace.room(), 1);
  });

  test('without a limit there is always room', () => {
    assert.equal(openPace(undefined, () => 0).room(), Infinity);
  });
});
