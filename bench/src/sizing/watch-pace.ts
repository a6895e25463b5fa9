/**
 * How long the processor takes for a piece of work that never changes, while a load runs: a shared machine needs up to twice the CPU time in
 * some hours, for this work about as for the product's.
 */
import { once } from 'node:events';
import { Worker } from 'node:worker_threads';

type Worked = { us: number; pieces: number };
export type Pace = AsyncDisposable & {
  /** CPU time of a piece since this was asked before. */
  us(): Promise<number>;
};

export async function watchPace(): Promise<Pace> {
  const worker = new Worker(new URL('work-pieces.ts', import.meta.url));
  await once(worker, 'message');
  let before: Worked = { us: 0, pieces: 0 };
  return {
    async us() {
      worker.postMessage('look');
      const [now] = (await once(worker, 'message')) as [Worked];
      const us = (now.us - before.us) / (now.pieces - before.pieces);
      before = now;
      return us;
    },
    [Symbol.asyncDispose]: async () => void (await worker.terminate()),
  };
}
