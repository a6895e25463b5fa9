/** Calls at a steady rate to one source, in batches as a client sends them. */
import { randomUUID } from 'node:crypto';
import { waitFor } from './wait-for.ts';

type SteadyNeeds = { collectUrl: string; writeKey: string; perSecond: number };
export type SteadyCalls = AsyncDisposable & { sent(): number; rate(): number };

const TICK_MS = 100;

export async function openSteadyCalls({ collectUrl, writeKey, perSecond }: SteadyNeeds): Promise<SteadyCalls> {
  let sent = 0;
  const post = async (amount: number): Promise<number> => {
    const batch = Array.from({ length: amount }, (_, place) => ({
      type: 'track',
      event: 'Load Measured',
      userId: `cus_${place}`,
      messageId: randomUUID(),
      properties: { place, text: 'x'.repeat(200) },
    }));
    const answer = await fetch(`${collectUrl}/v1/batch`, {
      method: 'POST',
      headers: { Authorization: `Basic ${btoa(`${writeKey}:`)}`, 'Content-Type': 'application/json' },
      body: JSON.stringify({ batch, sentAt: new Date().toISOString() }),
    });
    await answer.arrayBuffer();
    if (answer.status === 200) sent += amount;
    return answer.status;
  };
  await waitFor('collect takes calls of the new source', async () => (await post(1)) === 200);
  const startedAt = performance.now();
  const underWay = new Set<Promise<unknown>>();
  const timer = setInterval(() => {
    const owed =
      ((performance.now() - startedAt) / 1_000) * perSecond - sent - underWay.size * perSecond * (TICK_MS / 1_000);
    if (owed < 1) return;
    const posting: Promise<unknown> = post(Math.min(Math.floor(owed), perSecond))
      .catch(() => undefined)
      .finally(() => underWay.delete(posting));
    underWay.add(posting);
  }, TICK_MS);
  return {
    sent: () => sent,
    rate: () => (sent * 1_000) / (performance.now() - startedAt),
    async [Symbol.asyncDispose]() {
      clearInterval(timer);
      await Promise.all(underWay);
    },
  };
}
