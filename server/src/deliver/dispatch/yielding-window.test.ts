import assert from 'node:assert/strict';
import { suite, test } from 'node:test';
import { BACKLOG_WINDOW, nextMost, openYieldingWindow } from './yielding-window.ts';

const { least: LEAST, most: MOST } = BACKLOG_WINDOW;
const QUIET = { lateMs: 0, fresh: 100, late: 0, isWanted: false };
const after = (looks: number, from: number, look: Parameters<typeof nextMost>[1]) =>
  Array.from({ length: looks }).reduce<number>((most) => nextMost(most, look, BACKLOG_WINDOW), from);

suite('how much of what has waited is under way', () => {
  test('grows while there is time to spare and somebody finds no room, up to a bound', () => {
    const look = { ...QUIET, lateMs: 2, isWanted: true };
    assert.ok(after(30, 16, look) > 128, 'within three seconds');
    assert.equal(after(1_000, 16, look), MOST);
  });

  test('shrinks within a second in a process that is late, and never to nothing', () => {
    const look = { ...QUIET, lateMs: 30, isWanted: true };
    assert.ok(after(10, 256, look) < 10);
    assert.equal(after(100, 256, look), LEAST);
  });

  test('shrinks when more than a few of those that are fresh come late', () => {
    assert.ok(nextMost(40, { ...QUIET, late: 9, isWanted: true }, BACKLOG_WINDOW) > 40);
    assert.ok(nextMost(40, { ...QUIET, late: 11, isWanted: true }, BACKLOG_WINDOW) < 40);
    assert.ok(nextMost(40, { ...QUIET, fresh: 1, late: 1 }, BACKLOG_WINDOW) < 40);
  });

  test('stays when everybody finds room', () => {
    assert.equal(nextMost(40, { ...QUIET, lateMs: 1 }, BACKLOG_WINDOW), 40);
  });

  test('learns while it is in use, by a clock that runs late or does not', (t) => {
    t.mock.timers.enable({ apis: ['setInterval'] });
    let nowMs = 0;
    using window = openYieldingWindow(BACKLOG_WINDOW, () => nowMs);
    const first = window.most();
    const pass = (ms: number, lateMs: number) => {
      for (let passed = 0; passed < ms; passed += 10) {
        window.room(MOST);
        nowMs += 10 + lateMs;
        t.mock.timers.tick(10);
      }
    };
    assert.deepEqual([window.room(0), window.room(first - 1), window.room(first + 1)], [first, 1, 0]);
    pass(1_000, 0);
    const grown = window.most();
    assert.ok(grown > first, `${grown} of ${first}`);
    pass(1_000, 20);
    const shrunk = window.most();
    assert.ok(shrunk < grown, `${shrunk} of ${grown}`);
    pass(500, 0);
    assert.ok(window.most() > shrunk, 'it grows again');
    const before = window.most();
    for (let times = 0; times < 5; times += 1) {
      window.fresh(20);
      pass(100, 0);
    }
    assert.ok(window.most() < before, 'and shrinks when something fresh is late, though the process is not');
  });
});
