import { setInterval as every } from 'node:timers/promises';

export type ReadySample = { askedAt: number; answeredAt: number; status: number };

export type ReadinessWatch = AsyncDisposable & { samples: readonly ReadySample[] };

const ASK_EVERY_MS = 100;

/** Asks /readyz all the time, as a load balancer does. Status 0 means no answer. */
export function watchReadiness(url: string): ReadinessWatch {
  const samples: ReadySample[] = [];
  const stopping = new AbortController();
  const watching = watch().catch((error: unknown) => {
    if (!stopping.signal.aborted) throw error;
  });

  async function watch(): Promise<void> {
    for await (const _ of every(ASK_EVERY_MS, undefined, { signal: stopping.signal })) samples.push(await askOnce(url));
  }

  return {
    samples,
    async [Symbol.asyncDispose]() {
      stopping.abort();
      await watching;
    },
  };
}

async function askOnce(url: string): Promise<ReadySample> {
  const askedAt = performance.now();
  const status = await fetch(`${url}/readyz`, { signal: AbortSignal.timeout(1_000) }).then(
    (answer) => answer.status,
    () => 0,
  );
  return { askedAt, answeredAt: performance.now(), status };
}

/** The first sample asked after a moment that has this status, as milliseconds after that moment. */
export function msUntilStatus(samples: readonly ReadySample[], status: number, after: number): number | undefined {
  const found = samples.find((sample) => sample.askedAt >= after && sample.status === status);
  return found === undefined ? undefined : Math.round(found.answeredAt - after);
}
