import assert from 'node:assert/strict';
import { setImmediate as turn } from 'node:timers/promises';
import { suite, test } from 'node:test';
import { LEAST, MOST, nextMost, openBacklogWindow } from './backlog-window.ts';

const after = (looks: number, from: number, look: Parameters<typeof nextMost>[1]) =>
  Array.from({ length: looks }).reduce<number>((most) => nextMost(most, look), from);

suite('how many from lanes are under way', () => {
  test('grows while there is time to spare and somebody waits, up to a bound', () => {
    const look = { lateMs: 2, isWanted: true };
    assert.ok(after(30, 16, look) > 128, 'within three seconds');
    assert.equal(after(1_000, 16, look), MOST);
  });

  test('shrinks within a second in a process that is late, and never to nothing', () => {
    const look = { lateMs: 30, isWanted: true };
    assert.ok(after(10, 256, look) < 10);
    assert.equal(after(100, 256, look), LEAST);
  });

  test('stays when nobody waits', () => {
    assert.equal(nextMost(40, { lateMs: 1, isWanted: false }), 40);
  });

  test('is never more than the window, and each who leaves lets the next one in, in order', async () => {
    using window = openBacklogWindow(() => 0);
    const got: number[] = [];
    const leaves: (() => void)[] = [];
    for (let index = 0; index < 40; index += 1) {
      void window.enter().then((leave) => {
        got.push(index);
        leaves.push(leave);
      });
    }
    await turn();
    assert.equal(got.length, window.most());
    leaves[3]?.();
    leaves[9]?.();
    await turn();
    assert.deepEqual(
      got,
      Array.from({ length: window.most() + 2 }, (_, index) => index),
    );
  });

  test('does not matter any more when the process stops: everybody passes', async () => {
    const window = openBacklogWindow();
    const entered = Array.from({ length: 50 }, () => window.enter());
    window[Symbol.dispose]();
    await Promise.all(entered);
  });
});
