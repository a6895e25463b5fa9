import { Agent } from 'node:http';
import { setTimeout as sleep } from 'node:timers/promises';
import { batchMaker, type BatchShape, type PreparedBatch } from './batch-maker.ts';
import type { Oracle } from './oracle.ts';
import type { Random } from './seeded-random.ts';
import { sendRequest } from './send-request.ts';

export type LoadNeeds = BatchShape & {
  url: string;
  oracle: Oracle;
  random: Random;
  batchesPerSecond: number;
  /** Begins the ids of its calls: two loads need two. */
  prefix?: string;
};

export type Load = {
  /** Batches not yet answered 200. */
  waiting(): number;
  /** Starts many batches at once and resolves somewhere in their midst, so that a fault surely finds some under way. */
  burst(): Promise<void>;
  /** Starts no new batches; resolves when all have been answered 200, or when patience ends. */
  stop(): Promise<void>;
};

const FIRST_RETRY_MS = 200;
const LAST_RETRY_MS = 1_000;
const BURST_BATCHES = 40;
const BURST_TAKES_MS = 40;
const PATIENCE_MS = 30_000;
/** Clients close idle connections long before collect does, after 65 seconds: else they would send over some that it has just closed. */
const IDLE_MS = 20_000;
/** An open loop that never ends its requests would measure itself. */
const MAX_WAITING = 3_000;

/**
 * An open loop: batches start at their times whether or not earlier ones were answered, as they do from many clients.
 * A batch is sent again with the same ids until it is answered 200.
 */
export function startLoad({ url, oracle, random, batchesPerSecond, prefix, ...shape }: LoadNeeds): Load {
  const agent = new Agent({ keepAlive: true, maxSockets: 512, timeout: IDLE_MS });
  const underWay = new Set<Promise<void>>();
  const startedAt = performance.now();
  const makeBatch = batchMaker(random, prefix ?? 'load', shape);
  let started = 0;
  let giveUpAt = Infinity;
  const ticker = setInterval(startDue, 10);

  function startDue(): void {
    const due = ((performance.now() - startedAt) / 1_000) * batchesPerSecond;
    for (; started < due; started += 1) if (underWay.size < MAX_WAITING) startOne();
  }

  function startOne(): void {
    const settled = settle(makeBatch());
    underWay.add(settled);
    void settled.finally(() => underWay.delete(settled));
  }

  async function settle({ source, body, ...batch }: PreparedBatch): Promise<void> {
    oracle.noteSent(batch, performance.now());
    for (let retryMs = FIRST_RETRY_MS; performance.now() < giveUpAt; retryMs = Math.min(LAST_RETRY_MS, retryMs * 2)) {
      const attempt = await sendRequest({ url, agent, writeKey: source.writeKey, body });
      oracle.noteAttempt(batch, attempt);
      if (attempt.outcome === 200) return;
      await sleep(retryMs * (0.5 + random.next()));
    }
  }

  return {
    waiting: () => underWay.size,
    async burst() {
      for (let i = 0; i < BURST_BATCHES; i += 1) startOne();
      await sleep(random.next() * BURST_TAKES_MS);
    },
    async stop() {
      clearInterval(ticker);
      giveUpAt = performance.now() + PATIENCE_MS;
      await Promise.all(underWay);
      agent.destroy();
    },
  };
}
