import { setTimeout as sleep } from 'node:timers/promises';

const WITHIN_MS = 60_000;

/** Waits until something is so, however busy the machine is. */
export async function waitFor(
  what: string,
  isSo: () => boolean | Promise<boolean>,
  withinMs = WITHIN_MS,
): Promise<void> {
  const giveUpAt = Date.now() + withinMs;
  while (!(await isSo())) {
    if (Date.now() > giveUpAt) throw new Error(`within ${withinMs} ms it did not become so: ${what}`);
    await sleep(50);
  }
}
