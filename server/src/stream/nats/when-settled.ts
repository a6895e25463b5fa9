import { setTimeout as sleep } from 'node:timers/promises';

const PATIENCE_MS = 30_000;
const PAUSE_MS = 500;

/**
 * Retries a start's request to NATS. Right after a start or a loss of a server a cluster has no leaders, or does not know where to
 * place a stream, and elections may follow each other; and servers learn only every ten seconds how much room the others have. That is no
 * reason to give up.
 */
export async function whenSettled<T>(make: () => Promise<T>): Promise<T> {
  const giveUpAt = performance.now() + PATIENCE_MS;
  for (;;) {
    try {
      return await make();
    } catch (error) {
      const isPassing =
        error instanceof Error &&
        /no suitable peers|insufficient storage|temporarily unavailable|timeout/i.test(error.message);
      if (!isPassing || performance.now() > giveUpAt) throw error;
      await sleep(PAUSE_MS);
    }
  }
}
