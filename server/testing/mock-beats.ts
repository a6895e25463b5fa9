import type { TestContext } from 'node:test';

const STEP_MS = 500;

/** The time of loops that wait for beats: it passes when the test says so. */
export function mockBeats(t: TestContext): { pass(ms: number): void } {
  t.mock.timers.enable({ apis: ['setTimeout'] });
  let nowMs = 0;
  t.mock.method(performance, 'now', () => nowMs);
  return {
    pass(ms) {
      for (let left = ms; left > 0; left -= STEP_MS) {
        const step = Math.min(left, STEP_MS);
        nowMs += step;
        t.mock.timers.tick(step);
      }
    },
  };
}
