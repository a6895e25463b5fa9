import { monitorEventLoopDelay } from 'node:perf_hooks';

/** Whether this process has more to do than it can: then it takes on nothing new. */
export type LoadWatch = Disposable & {
  isOverloaded(): boolean;
  /** The delay that one in a hundred turns of the event loop had, in the last second. */
  delayMs(): number;
};

const LOOK_MS = 500;
/** Timers that come this late make the five seconds of an attempt a lie. */
const MAX_DELAY_MS = 100;
const RESOLUTION_MS = 10;

export function watchLoad(): LoadWatch {
  const histogram = monitorEventLoopDelay({ resolution: RESOLUTION_MS });
  histogram.enable();
  let delayMs = 0;
  let delayBeforeMs = 0;
  const timer = setInterval(() => {
    delayBeforeMs = delayMs;
    // What it counts includes the pause between two of its own looks.
    delayMs = Math.max(0, histogram.percentile(99) / 1e6 - RESOLUTION_MS);
    histogram.reset();
  }, LOOK_MS);
  timer.unref();
  return {
    // Twice in a row: half a second without pulling is a worse delay for everybody than one pause of the collector.
    isOverloaded: () => Math.min(delayMs, delayBeforeMs) > MAX_DELAY_MS,
    delayMs: () => delayMs,
    [Symbol.dispose]() {
      clearInterval(timer);
      histogram.disable();
    },
  };
}
