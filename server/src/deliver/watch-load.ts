import { watchDelay } from '../metrics/watch-delay.ts';

/** Whether this process has more to do than it can: then it takes on nothing new. */
export type LoadWatch = Disposable & {
  isOverloaded(): boolean;
  /** The longest that the event loop was late, in the last half second that is over. */
  delayMs(): number;
};

const WINDOW_MS = 500;
/** Timers that come this late make the five seconds of an attempt a lie. */
const MAX_DELAY_MS = 100;

export function watchLoad(): LoadWatch {
  let delayMs = 0;
  let delayBeforeMs = 0;
  let worstMs = 0;
  let beganAt = performance.now();
  const watch = watchDelay((lateMs) => {
    worstMs = Math.max(worstMs, lateMs);
    const now = performance.now();
    if (now - beganAt < WINDOW_MS) return;
    delayBeforeMs = delayMs;
    delayMs = worstMs;
    worstMs = 0;
    beganAt = now;
  });
  return {
    // Twice in a row: half a second without pulling is a worse delay for everybody than one pause of the collector.
    isOverloaded: () => Math.min(delayMs, delayBeforeMs) > MAX_DELAY_MS,
    delayMs: () => delayMs,
    [Symbol.dispose]: () => watch[Symbol.dispose](),
  };
}
