/**
 * Waits of background loops. In a process that rests they end at a beat, a moment that all of its loops share: every second, or every half
 * second for waits shorter than one. So it wakes at its beats, and not once for each loop. In a process that works they end when they like:
 * a call would have to wait for all loops that have their turn at a beat.
 */
import { setTimeout as sleep } from 'node:timers/promises';

const BEATS_MS = [1_000, 500];
/** Of a process that watches its event loop. Others count as resting. */
let doesRest = true;

export function setRest(rests: boolean): void {
  doesRest = rests;
}

/** Waits between two rounds of a background loop. An abort ends the wait early and is no error: the loop looks at its signal. */
export async function pause(ms: number, signal: AbortSignal): Promise<void> {
  await sleep(waitMs(ms), undefined, { signal }).catch(() => undefined);
}

/** Runs again and again until it is disposed. It keeps no process alive. */
export function every(ms: number, run: () => void): Disposable {
  let timer = setTimeout(turn, waitMs(ms)).unref();
  function turn(): void {
    timer = setTimeout(turn, waitMs(ms)).unref();
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
        const timer = setTimeout(resolve, waitMs(timeoutMs));
        await promise;
        clearTimeout(timer);
        wake = undefined;
      }
      isRung = false;
    },
  };
}

function waitMs(ms: number): number {
  return doesRest ? toBeat(ms) : offBeat(ms);
}

/** The time until the beat that is nearest to the end of a wait. A wait shorter than the shortest beat stays as it is. */
export function toBeat(ms: number, now = performance.now()): number {
  const beatMs = beatOf(ms);
  return beatMs === undefined ? ms : Math.ceil(Math.round((now + ms) / beatMs) * beatMs - now);
}

/** Longer or shorter by half a beat at most: loops that had their turns at the same beat part again. */
export function offBeat(ms: number, random = Math.random()): number {
  return ms + (random - 1 / 2) * (beatOf(ms) ?? 0);
}

function beatOf(ms: number): number | undefined {
  return BEATS_MS.find((beatMs) => beatMs <= ms);
}
