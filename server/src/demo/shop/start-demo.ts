/**
 * A made-up outdoor shop beside a running server: members, sources, destinations in every state of health, receivers on loopback,
 * steady calls, a replay and a deletion request. All of it goes through the real APIs over HTTP, so every screen shows true data.
 */
import type { Destination, Source } from '@millrace/contract/control';
import type { Logger } from '../../log.ts';
import { pause } from '../../pause.ts';
import { openCallTraffic } from './send-calls.ts';
import { setUpShop, type Shop } from './set-up-shop.ts';
import { type ApiUrls, type Ask, askWithToken, sendBatch } from './shop-api.ts';
import { FORGOTTEN_USER } from './shop-data.ts';
import { MEMBERS, PASSWORD } from './shop-plan.ts';
import { openShopReceivers, type ShopReceivers } from './shop-receivers.ts';

export type DemoOptions = ApiUrls & {
  /** Of an owner; the demo invites its members with it. */
  token: string;
  log: Logger;
  callsPerSecond?: number;
  /** Of every member; one that everybody knows when absent. */
  password?: string;
  /** The same seed gives the same calls. */
  seed?: number;
  /** Sent at once, so that every screen has data within seconds. */
  firstCalls?: number;
  /** Opened by the caller when they should outlive the demo; the demo opens and closes its own otherwise. */
  receivers?: ShopReceivers;
};

export type Demo = AsyncDisposable & {
  shop: Shop;
  account: { email: string; password: string };
  receivers: ShopReceivers;
  /** How many calls were sent so far. */
  sent(): number;
};

export const CALLS_PER_SECOND = 3;
export const FIRST_CALLS = 400;
const SEED = 1;
const POLL_MS = 100;
/** A machine that is busy may take long; an answer that never comes must not stop the start for good. */
const PATIENCE_MS = 60_000;

export async function startDemo(options: DemoOptions): Promise<Demo> {
  const { controlUrl, collectUrl, token, log, callsPerSecond = CALLS_PER_SECOND, seed = SEED } = options;
  const { password = PASSWORD } = options;
  await using starting = new AsyncDisposableStack();
  const receivers = options.receivers ?? starting.use(await openShopReceivers(callsPerSecond));
  const askAsOwner = askWithToken(controlUrl, token);
  const shop = await setUpShop({ controlUrl, askAsOwner, receivers, callsPerSecond, password });
  await untilInUse(askAsOwner, collectUrl, shop);
  const startedAt = new Date();
  const sender = starting.use(openCallTraffic({ collectUrl, sources: shop.sources, callsPerSecond, seed, log }));
  await sender.send(options.firstCalls ?? FIRST_CALLS);
  sender.start();
  await addReplay(askAsOwner, shop, startedAt);
  await addDeletion(askAsOwner);
  const running = starting.move();
  return {
    shop,
    account: { email: MEMBERS[0].email, password },
    receivers,
    sent: sender.sent,
    [Symbol.asyncDispose]: () => running.disposeAsync(),
  };
}

/** Calls that come before collect knows a write key are refused, and events that come before deliver knows a destination pass it by. */
async function untilInUse(ask: Ask, collectUrl: string, { sources, destinations }: Shop): Promise<void> {
  for (const id of Object.values(destinations)) {
    await until(`destination ${id} is in use`, async () => {
      return (await ask<Destination>('GET', `/destinations/${id}`)).projection.state === 'applied';
    });
  }
  for (const { id, writeKey } of Object.values(sources)) {
    await until(`source ${id} is in use`, async () => {
      const isApplied = (await ask<Source>('GET', `/sources/${id}`)).projection.state === 'applied';
      return isApplied && (await sendBatch(collectUrl, writeKey, [])) === 400;
    });
  }
}

type Jobs = { items: { id: string; state: string }[] };

/** One replay of the baskets of the first calls, as after an outage of the CRM. */
async function addReplay(ask: Ask, { sources, destinations }: Shop, startedAt: Date): Promise<void> {
  if ((await ask<Jobs>('GET', '/replays')).items.length > 0) return;
  const range = { from: startedAt.toISOString(), to: new Date().toISOString() };
  const ids = { sourceId: sources['Web shop'].id, destinationId: destinations['CRM sync'] };
  const replay = { ...ids, ...range, filter: { events: ['Product Added'] } };
  const { id } = await ask<{ id: string }>('POST', '/replays', replay);
  await until(`replay ${id} has ended`, async () => {
    return (await ask<{ state: string }>('GET', `/replays/${id}`)).state !== 'running';
  });
}

/** The customer's later calls are suppressed. The start does not wait for the erasure, which takes about ten seconds. */
async function addDeletion(ask: Ask): Promise<void> {
  if ((await ask<Jobs>('GET', '/deletion-requests')).items.length > 0) return;
  await ask('POST', '/deletion-requests', { userIds: [FORGOTTEN_USER], suppress: true });
}

async function until(claim: string, isTrue: () => Promise<boolean>): Promise<void> {
  const deadline = AbortSignal.timeout(PATIENCE_MS);
  while (!(await isTrue())) {
    if (deadline.aborted) throw new Error(`the demo waited ${PATIENCE_MS / 1_000} s in vain until ${claim}`);
    await pause(POLL_MS, deadline);
  }
}
