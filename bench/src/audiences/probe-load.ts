import { Agent, request } from 'node:http';
import { setTimeout as sleep } from 'node:timers/promises';
import { type Dice, openDice } from '../../../server/testing/compute/dice.ts';
import { clockMs, firstTimes, type OtherTimes, type Span, timesOf } from '../replay/watch-other.ts';
import type { Installation, Shop } from './installation.ts';
import { shopCall } from './shop.ts';
import type { Told } from './told.ts';

export const PROBE = { key: 'probes', event: 'Probe' };
const CALLS_PER_REQUEST = 20;
export type Load = 'light' | 'full';
const REQUESTS_PER_SECOND: Readonly<Record<Load, number>> = { light: 5, full: 100 };
/** For the last ones to come. */
const PATIENCE_MS = 10_000;

export type ProbeTimes = {
  /** From the answer 200 to the identify call at the webhook, of calls that were answered in these times. */
  timesIn(spans: readonly Span[]): OtherTimes;
  eventsPerSecond: number;
  refused: number;
};

let requests = 0;
const agent = new Agent({ keepAlive: true, maxSockets: 64 });

/**
 * Two thousand events a second, or a hundred, of users of the shop, over HTTP; one in twenty is of a user who was never seen and enters an
 * audience by it. Lasts as long as the work.
 */
export async function probe(
  { collectUrl }: Installation,
  { writeKey }: Shop,
  { told, users, load, work }: { told: Told; users: number; load: Load; work(): Promise<unknown> },
): Promise<ProbeTimes> {
  const dice = openDice(Date.now() % 1_000_000);
  const answeredAt = new Map<string, number>();
  const open = new Set<Promise<void>>();
  let refused = 0;
  const send = (number: number) => {
    const sent = post(`${collectUrl}/v1/batch`, writeKey, bodyOf(dice, number, users))
      .then((status) => {
        if (status === 200) answeredAt.set(`probe-${number} ${PROBE.key} true`, clockMs());
        else refused += 1;
      })
      .catch(() => void (refused += 1))
      .finally(() => open.delete(sent));
    open.add(sent);
  };
  const [startedAt, first] = [performance.now(), requests];
  const timer = setInterval(() => {
    const due = first + Math.floor(((performance.now() - startedAt) * REQUESTS_PER_SECOND[load]) / 1_000);
    while (requests < due) send((requests += 1));
  }, 1_000 / REQUESTS_PER_SECOND[load]);
  await work().finally(() => clearInterval(timer));
  const seconds = (performance.now() - startedAt) / 1_000;
  await Promise.all(open);
  await sleep(PATIENCE_MS);
  await told.listen();
  const toldAt = firstTimes(told.arrivals);
  return {
    timesIn(spans) {
      const answered = [...answeredAt].filter(([, at]) => spans.some(({ from, to }) => at >= from && at < to));
      return timesOf(answered.map(([name, at]) => Math.max(0, (toldAt.get(name) ?? Infinity) - at)));
    },
    eventsPerSecond: Math.round(((requests - first) * CALLS_PER_REQUEST) / seconds),
    refused,
  };
}

function bodyOf(dice: Dice, number: number, users: number): string {
  const at = Date.now();
  const batch: object[] = Array.from({ length: CALLS_PER_REQUEST - 1 }, (_, nth) =>
    shopCall(dice, 1e11 + number * CALLS_PER_REQUEST + nth, { users, at }),
  );
  batch.push({ type: 'track', event: PROBE.event, userId: `probe-${number}`, messageId: `probe-${number}` });
  return JSON.stringify({ batch });
}

function post(url: string, writeKey: string, body: string): Promise<number> {
  const { promise, resolve, reject } = Promise.withResolvers<number>();
  const headers = { 'Content-Type': 'application/json', 'Content-Length': Buffer.byteLength(body) };
  const sent = request(url, { method: 'POST', auth: `${writeKey}:`, headers, agent }, (answer) => {
    answer.resume().once('end', () => resolve(answer.statusCode ?? 0));
  });
  sent.once('error', reject).end(body);
  return promise;
}
