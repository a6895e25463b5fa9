import { setTimeout as sleep } from 'node:timers/promises';

const PAUSE_MS = 500;

/** Asks until the engine is there to answer: what is not stored is not let go of. */
export async function whenAvailable<T extends string>(ask: () => Promise<T>): Promise<Exclude<T, 'unavailable'>> {
  for (;;) {
    const answer = await ask();
    if (answer !== 'unavailable') return answer as Exclude<T, 'unavailable'>;
    await sleep(PAUSE_MS);
  }
}
