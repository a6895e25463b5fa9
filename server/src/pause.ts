import { setTimeout as sleep } from 'node:timers/promises';

/** Waits between two rounds of a background loop. An abort ends the wait early and is no error: the loop looks at its signal. */
export async function pause(ms: number, signal: AbortSignal): Promise<void> {
  await sleep(ms, undefined, { signal }).catch(() => undefined);
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
        const timer = setTimeout(resolve, timeoutMs);
        await promise;
        clearTimeout(timer);
        wake = undefined;
      }
      isRung = false;
    },
  };
}
