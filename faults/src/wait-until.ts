import { setTimeout as sleep } from 'node:timers/promises';

const LOOK_AGAIN_MS = 50;

/** For what only shows itself to those who look: another process's state. Resolves with how long it took. */
export async function waitUntil(
  what: string,
  withinMs: number,
  isTrue: () => Promise<boolean> | boolean,
): Promise<number> {
  const startedAt = performance.now();
  while (!(await isTrue())) {
    if (performance.now() - startedAt > withinMs) throw new Error(`not within ${withinMs} ms: ${what}`);
    await sleep(LOOK_AGAIN_MS);
  }
  return performance.now() - startedAt;
}
