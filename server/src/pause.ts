/**
 * Waits of background loops. They end at a beat, a moment that all loops of a process share: every second, or every half second for waits
 * shorter than one. A process that rests wakes at its beats, and not once for each of its loops.
 */
import { setTimeout as sleep } from 'node:timers/promises';

const BEATS_MS = [1_000, 500];

/** Waits between two rounds of a background loop. An abort ends the wait early and is no error: the loop looks at its signal. */
export async function pause(ms: number, signal: AbortSignal): Promise<void> {
  await sleep(toBeat(ms), undefined, { signal }).catch(() => undefined);
}

/** Runs again and again until it is disposed. It keeps no process alive. */
export function every(ms: number, run: () => void): Disposable {
  let timer = setTimeout(turn, toBeat(ms)).unref();
  function turn(): void {
    timer = setTimeout(turn, toBeat(ms)).unref();
    run();
  }
  return { [Symbol.dispose]: () => clearTimeout(timer) };
}

/** Wakes a loop that waits. A ring without a waiter is kept for the next one. */
export type Bell = { ring(): void; wait(timeoutMs: number): Promise<void> };

export function openBell(): Bell {
  let isRung = false;
  let wake: (() => void) | undefined;
  return {
    ring() {
      isRung = true;
      wake?.();
    },
    async wait(timeoutMs) {
      if (!isRung) {
        const { promise, resolve } = Promise.withResolvers<void>();
        wake = resolve;
        const timer = setTimeout(resolve, toBeat(timeoutMs));
        await promise;
        clearTimeout(timer);
        wake = undefined;
      }
      isRung = false;
    },
  };
}

/** The time until the beat that is nearest to the end of a wait. A wait shorter than the shortest beat stays as it is. */
export function toBeat(ms: number, now = performance.now()): number {
  const beatMs = BEATS_MS.find((each) => each <= ms);
  return beatMs === undefined ? ms : Math.ceil(Math.round((now + ms) / beatMs) * beatMs - now);
}
