import { setTimeout as sleep } from 'node:timers/promises';

const PAUSE_MS = 500;

/** Retries until NATS answers: a delivery that is not stored must not be dropped. */
export async function whenAvailable<T extends string>(ask: () => Promise<T>): Promise<Exclude<T, 'unavailable'>> {
  for (;;) {
    const answer = await ask();
    if (answer !== 'unavailable') return answer as Exclude<T, 'unavailable'>;
    // It keeps no process alive whose connections are closed.
    await sleep(PAUSE_MS, undefined, { ref: false });
  }
}

const FULL_PAUSE_MS = 5_000;

/** The same, and retries while there is no room: for things that have no other place to go. */
export async function whenKept(keep: () => Promise<'stored' | 'full' | 'unavailable'>): Promise<void> {
  while ((await whenAvailable(keep)) === 'full') await sleep(FULL_PAUSE_MS);
}
