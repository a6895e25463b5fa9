/**
 * Time in which an answer could have been noticed. While the clock runs, it is told of every turn that the event loop comes round,
 * and a turn counts for no more than a tenth of a second: a process that was busy or not scheduled for a second must not take
 * every receiver for one that hangs. While it does not run, nothing is waited for, and it is an ordinary clock.
 */
export type FairClock = {
  now(): number;
  run(): void;
  turn(): void;
  rest(): void;
};

const MAX_TURN_MS = 100;

export function openFairClock(uptimeMs: () => number): FairClock {
  let fairMs = uptimeMs();
  let at = fairMs;
  let isRunning = false;
  const now = () => fairMs + (isRunning ? Math.min(uptimeMs() - at, MAX_TURN_MS) : uptimeMs() - at);
  const turn = () => {
    fairMs = now();
    at = uptimeMs();
  };
  return {
    now,
    run() {
      if (isRunning) return;
      turn();
      isRunning = true;
    },
    turn,
    rest() {
      turn();
      isRunning = false;
    },
  };
}
