import type { ControlClient } from '../control-client.ts';
import type { Timed } from '../measure-attempts.ts';

export type Asking = AsyncDisposable & { times: Timed[]; statuses: Map<number, number>; stop(): Promise<void> };

/** Lists sources again and again, without waiting for answers: a slow answer must not make the next question later. */
export function askOften(client: ControlClient, everyMs: number): Asking {
  const times: Timed[] = [];
  const statuses = new Map<number, number>();
  const underWay = new Set<Promise<void>>();
  const askOne = async (): Promise<void> => {
    const { askedAt, answeredAt, status } = await client.ask('GET', '/api/v1/sources');
    times.push({ startedAt: askedAt, endedAt: answeredAt });
    statuses.set(status, (statuses.get(status) ?? 0) + 1);
  };
  const asking = steadily(everyMs, () => {
    const one = askOne().finally(() => underWay.delete(one));
    underWay.add(one);
  });
  const stop = async () => {
    asking.stop();
    await Promise.all(underWay);
  };
  return { times, statuses, stop, [Symbol.asyncDispose]: stop };
}

/** As often as it is due: a timer of a busy machine alone leaves rounds out, and the rate would stay below a limit. */
export function steadily(everyMs: number, work: () => void): { stop(): void } {
  const startedAt = performance.now();
  let done = 0;
  const timer = setInterval(() => {
    for (const due = (performance.now() - startedAt) / everyMs; done < due; done += 1) work();
  }, everyMs);
  return { stop: () => clearInterval(timer) };
}
