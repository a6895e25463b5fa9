import { setTimeout as sleep } from 'node:timers/promises';
import { clockMs, type OtherTimes } from '../replay/watch-other.ts';
import { round } from '../spread.ts';
import { appendCalls } from './append-events.ts';
import type { Installation, Shop } from './installation.ts';
import { type Load, probe } from './probe-load.ts';
import type { Told } from './told.ts';
import { waitFor } from './wait-for.ts';

export const VISIT = { key: 'visitors', event: 'Visit', window: '1h' };
const MINUTE_MS = 60_000;
const WINDOW_MS = 60 * MINUTE_MS;
/** The load begins before, so that it is steady by then. */
const BEFORE_MS = 10_000;

export type Expiry = {
  visitors: number;
  /** From the minute in which all of them are due. */
  outSeconds: number;
  toldSeconds: number;
  early: number;
  told: number;
  during: OtherTimes;
};

export type ExpiryNeeds = {
  told: Told;
  users: number;
  load: Load;
  visitors: number;
  /** The time that their entry may take. */
  aheadMs: number;
};

/** Visits of many users that stop counting in the same minute, under load. */
export async function measureExpiry(stack: Installation, shop: Shop, needs: ExpiryNeeds): Promise<Expiry> {
  const { told, users, load, visitors, aheadMs } = needs;
  const first = told.arrivals.length;
  const dueAt = Math.ceil((Date.now() + aheadMs) / MINUTE_MS) * MINUTE_MS;
  await enter(stack, shop, { visitors, dueAt });
  const offsetMs = Date.now() - clockMs();
  const exits = () =>
    told.arrivals
      .slice(first)
      .filter(([what]) => what.endsWith(` ${VISIT.key} false`))
      .map(([, at]) => at + offsetMs);
  const span = { from: dueAt - offsetMs, to: 0 };
  let outAt = 0;
  const work = async () => {
    await sleep(dueAt - Date.now());
    await waitFor(async () => (await countMembers(stack)) === 0);
    outAt = Date.now();
    await waitFor(async () => {
      await told.listen();
      return exits().length >= visitors;
    });
    span.to = clockMs();
  };
  const times = await probe(stack, shop, { told, users, load, work });
  return {
    visitors,
    outSeconds: round((outAt - dueAt) / 1_000),
    toldSeconds: round((exits().reduce((last, at) => Math.max(last, at), 0) - dueAt) / 1_000),
    early: exits().filter((at) => at < dueAt).length,
    told: exits().length,
    during: times.timesIn([span]),
  };
}

/** Resolves a little before they are due. */
async function enter(
  stack: Installation,
  shop: Shop,
  { visitors, dueAt }: { visitors: number; dueAt: number },
): Promise<void> {
  const timestamp = new Date(dueAt - WINDOW_MS - MINUTE_MS / 2).toISOString();
  const call = (nth: number) => {
    return { type: 'track', event: VISIT.event, userId: `v${nth}`, messageId: `${dueAt} ${nth}`, timestamp };
  };
  await appendCalls(stack.nats.url, shop, { count: visitors, call });
  await waitFor(async () => (await countMembers(stack)) === visitors);
  if (Date.now() > dueAt - BEFORE_MS) throw new Error('the visitors entered too late');
  await sleep(dueAt - BEFORE_MS - Date.now());
}

async function countMembers({ store }: Installation): Promise<number> {
  const sql = `SELECT count(*)::int AS count FROM memberships WHERE definition = (SELECT number FROM definitions WHERE key = $1)`;
  const [row] = await store.asSystem((tx) => tx.query<{ count: number }>(sql, [VISIT.key]));
  return row?.count ?? 0;
}
