import assert from 'node:assert/strict';
import { suite, test } from 'node:test';
import { LEAST, MOST, nextMost, openBacklogWindow } from './backlog-window.ts';

const after = (looks: number, from: number, look: Parameters<typeof nextMost>[1]) =>
  Array.from({ length: looks }).reduce<number>((most) => nextMost(most, look), from);

suite('how many of long backlogs are under way', () => {
  test('grows while there is time to spare and somebody is not admitted, up to a bound', () => {
    const look = { lateMs: 2, isWanted: true };
    assert.ok(after(30, 16, look) > 128, 'within three seconds');
    assert.equal(after(1_000, 16, look), MOST);
  });

  test('shrinks within a second in a process that is late, and never to nothing', () => {
    const look = { lateMs: 30, isWanted: true };
    assert.ok(after(10, 256, look) < 10);
    assert.equal(after(100, 256, look), LEAST);
  });

  test('stays when everybody is admitted', () => {
    assert.equal(nextMost(40, { lateMs: 1, isWanted: false }), 40);
  });

  test('learns while it is in use, by a clock that runs late or does not', (t) => {
    t.mock.timers.enable({ apis: ['setInterval'] });
    let nowMs = 0;
    using window = openBacklogWindow(() => nowMs);
    const first = window.most();
    const pass = (ms: number, lateMs: number) => {
      for (let passed = 0; passed < ms; passed += 10) {
        window.admits(MOST);
        nowMs += 10 + lateMs;
        t.mock.timers.tick(10);
      }
    };
    assert.equal(window.admits(first - 1), true);
    assert.equal(window.admits(first), false);
    pass(1_000, 0);
    const grown = window.most();
    assert.ok(grown > first, `${grown} of ${first}`);
    pass(1_000, 20);
    assert.ok(window.most() < grown, `${window.most()} of ${grown}`);
  });
});
