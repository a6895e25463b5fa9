import assert from 'node:assert/strict';
import { suite, test } from 'node:test';
import { until } from '../testing/until.ts';
import { every, offBeat, openBell, pause, toBeat } from './pause.ts';

suite('a wait of a loop', () => {
  test('ends at the same moment as those of others, whenever it began', () => {
    const ends = [10_000.2, 10_090.9, 10_499].map((now) => Math.floor(now + toBeat(1_000, now)));
    assert.deepEqual(ends, [11_000, 11_000, 11_000]);
  });

  test('is half a beat longer or shorter than asked for at most, and never over at once', () => {
    for (let now = 500; now < 2_000; now += 7.3) {
      assert.ok(Math.abs(toBeat(600, now) - 600) <= 251, `600 at ${now}`);
      for (const ms of [1_000, 2_750]) assert.ok(Math.abs(toBeat(ms, now) - ms) <= 501, `${ms} at ${now}`);
    }
  });

  test('that follows one of the same length takes as long as it says', () => {
    for (const ms of [500, 1_000, 5_000]) assert.equal(toBeat(ms, 20_000.2), ms);
  });

  test('that is shorter than a beat takes as long as it says', () => {
    assert.equal(toBeat(200, 10_499), 200);
  });

  test('of a process that works is half a beat longer or shorter at most, and so apart from those of others', () => {
    const ends = (ms: number) => [0, 0.5, 0.999].map((random) => Math.round(offBeat(ms, random)));
    assert.deepEqual(ends(1_000), [500, 1_000, 1_499]);
    assert.deepEqual(ends(600), [350, 600, 850]);
    assert.deepEqual(ends(200), [200, 200, 200]);
  });

  test('is over when it is aborted', async () => {
    const life = new AbortController();
    const waiting = pause(3_600_000, life.signal);
    life.abort();
    await waiting;
  });
});

suite('a bell', () => {
  test('that was rung before keeps no loop waiting', async () => {
    const bell = openBell();
    bell.ring();
    await bell.wait(3_600_000);
  });
});

suite('work that is done every now and then', () => {
  test('is done until it is disposed', async () => {
    // The loop keeps no process alive, nor this test.
    const held = setInterval(() => undefined, 1_000);
    const times = { first: 0, second: 0 };
    const first = every(1, () => (times.first += 1));
    using _ = every(1, () => (times.second += 1));
    await until(() => times.first > 2);
    first[Symbol.dispose]();
    const then = { ...times };
    await until(() => times.second > then.second + 2);
    assert.equal(times.first, then.first);
    clearInterval(held);
  });
});
