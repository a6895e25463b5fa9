import { Agent } from 'node:http';
import { setTimeout as sleep } from 'node:timers/promises';
import { sendRequest } from '../send-request.ts';
import type { Random } from '../seeded-random.ts';
import { type Call, orderCall, visitCall } from './audience-plan.ts';

export type AudienceLoad = {
  /** Every call of which a request was begun; each of them is answered 200 in the end. */
  calls: ReadonlyMap<string, Call>;
  /** Answers by status or error. */
  answers: ReadonlyMap<string, number>;
  /** Resolves when every request has been answered 200. */
  stop(): Promise<void>;
};

export type AudienceLoadNeeds = {
  url: string;
  writeKey: string;
  random: Random;
  users: number;
  visits: number;
  /** From when on the visits count no more. */
  visitsEndAt: number;
  batchesPerSecond: number;
};

const PER_BATCH = 10;
const AGAIN_MS = 100;

/** Visits first, then orders. A request that is not answered 200 is sent again: its calls come twice if it was stored all the same. */
export function startAudienceLoad(needs: AudienceLoadNeeds): AudienceLoad {
  const { url, writeKey, random, users, visits, visitsEndAt, batchesPerSecond } = needs;
  const agent = new Agent({ keepAlive: true });
  const calls = new Map<string, Call>();
  const answers = new Map<string, number>();
  const underWay = new Set<Promise<void>>();
  const life = new AbortController();

  async function send(batch: readonly Call[]): Promise<void> {
    for (const call of batch) calls.set(call.messageId, call);
    const body = JSON.stringify({ batch });
    for (;;) {
      const { outcome } = await sendRequest({ url, agent, writeKey, body });
      answers.set(String(outcome), (answers.get(String(outcome)) ?? 0) + 1);
      if (outcome === 200) return;
      await sleep(AGAIN_MS);
    }
  }

  function begin(batch: readonly Call[]): void {
    const sending = send(batch).finally(() => underWay.delete(sending));
    underWay.add(sending);
  }

  async function run(): Promise<void> {
    begin(Array.from({ length: visits }, (_, number) => visitCall(number, visitsEndAt)));
    for (let first = 0; !life.signal.aborted; first += PER_BATCH) {
      begin(Array.from({ length: PER_BATCH }, (_, nth) => orderCall(random, first + nth, users)));
      await sleep(1_000 / batchesPerSecond);
    }
  }

  const running = run();
  return {
    calls,
    answers,
    async stop() {
      life.abort();
      await running;
      await Promise.all(underWay);
      agent.destroy();
    },
  };
}
