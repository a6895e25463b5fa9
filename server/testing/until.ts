import { setTimeout as sleep } from 'node:timers/promises';

const POLL_MS = 10;

/** Polls until the claim is true and resolves with the milliseconds that took. Throws the text of the claim if time runs out. */
export async function until(isTrue: () => boolean | Promise<boolean>, patienceMs = 30_000): Promise<number> {
  const startedAt = performance.now();
  while (!(await isTrue())) {
    if (performance.now() - startedAt > patienceMs)
      throw new Error(`not within ${patienceMs} ms: ${isTrue.toString()}`);
    await sleep(POLL_MS);
  }
  return Math.round(performance.now() - startedAt);
}
