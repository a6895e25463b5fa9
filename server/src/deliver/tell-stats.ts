import { monitorEventLoopDelay } from 'node:perf_hooks';
import type { Logger } from '../log.ts';
import { every } from '../pause.ts';

const EVERY_MS = 1_000;
const RESOLUTION_MS = 10;

/** Logs the state of the process every second, at the level debug. */
export function tellStats(stats: () => object, log: Logger): Disposable {
  if (!log.isLevelEnabled('debug')) return { [Symbol.dispose]: () => undefined };
  const histogram = monitorEventLoopDelay({ resolution: RESOLUTION_MS });
  histogram.enable();
  // The histogram includes the pause between two of its own looks.
  const delayMs = (nanoseconds: number) => Math.max(0, Math.round(nanoseconds / 1e6 - RESOLUTION_MS));
  const timer = every(EVERY_MS, () => {
    const loopDelay = { loopDelayP99Ms: delayMs(histogram.percentile(99)), loopDelayMaxMs: delayMs(histogram.max) };
    log.debug({ ...stats(), ...loopDelay, ...readMemory() }, 'deliver.stats');
  });
  return {
    [Symbol.dispose]() {
      timer[Symbol.dispose]();
      histogram.disable();
    },
  };
}

/** Node reads the size of the process from a file: without a file descriptor it cannot, and the process must outlive that. */
function readMemory(): { rssMb?: number } {
  try {
    return { rssMb: Math.round(process.memoryUsage.rss() / 1_048_576) };
  } catch {
    return {};
  }
}
