import { watchDelay } from '../metrics/watch-delay.ts';

/** Backpressure: a process whose event loop is late pulls no new requests or tickets. */
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
    // Twice in a row: half a second without pulling delays events more than one pause of the garbage collector.
    isOverloaded: () => Math.min(delayMs, delayBeforeMs) > MAX_DELAY_MS,
    delayMs: () => delayMs,
    [Symbol.dispose]: () => watch[Symbol.dispose](),
  };
}
