import { setTimeout as sleep } from 'node:timers/promises';

/** Waits between two rounds of a background loop. An abort ends the wait early and is no error: the loop looks at its signal. */
export async function pause(ms: number, signal: AbortSignal): Promise<void> {
  await sleep(ms, undefined, { signal }).catch(() => undefined);
}
