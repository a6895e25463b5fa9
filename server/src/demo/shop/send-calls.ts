/** Sends the made-up calls at a steady rate, each source with its own write key. */
import type { Logger } from '../../log.ts';
import { pause } from '../../pause.ts';
import { openDice } from './dice.ts';
import { type MadeCall, makeStockCount, openCallMaker } from './make-calls.ts';
import { sendBatch } from './shop-api.ts';
import type { SourceName } from './shop-plan.ts';
import type { Shop } from './set-up-shop.ts';

const TICK_MS = 500;
/** A late tick makes up for this time at most: after a stall the demo does not flood the server. */
const MOST_MISSED_MS = 2_000;
const MOST_IN_BATCH = 100;
/** The order service counts the stock each minute; a count has the calls of this many seconds. */
const STOCK_EVERY_MS = 60_000;
const STOCK_SECONDS = 10;

export type CallNeeds = {
  collectUrl: string;
  sources: Shop['sources'];
  callsPerSecond: number;
  seed: number;
  log: Logger;
};

export type CallTraffic = AsyncDisposable & {
  /** Sends this many calls at once. */
  send(amount: number): Promise<void>;
  /** Begins the steady traffic. */
  start(): void;
  /** How many calls were sent so far; collect refused a few of them. */
  sent(): number;
};

// oxlint-disable-next-line max-lines-per-function -- a factory: its parts share its state
export function openCallTraffic({ collectUrl, sources, callsPerSecond, seed, log }: CallNeeds): CallTraffic {
  const stopping = new AbortController();
  const makeCall = openCallMaker(seed);
  const dice = openDice(seed + 1);
  let sent = 0;
  let isTroubled = false;
  let traffic = Promise.resolve();

  /** A batch that is not stored is dropped: the demo has no queue, and the next calls tell whether the server is back. */
  async function post(source: SourceName, calls: readonly MadeCall[]): Promise<void> {
    const batch = calls.map(({ call }) => call);
    const status = await sendBatch(collectUrl, sources[source].writeKey, batch).catch((error: unknown) =>
      String(error),
    );
    // 400: collect refused every call of the batch, such as the single one with an unreadable time.
    const isTaken = status === 200 || status === 400;
    if (isTaken) sent += calls.length;
    else if (!isTroubled && !stopping.signal.aborted) log.warn({ source, status }, 'demo.not_sent');
    isTroubled = !isTaken;
  }

  async function postAll(calls: readonly MadeCall[]): Promise<void> {
    const bySource = Map.groupBy(calls, ({ source }) => source);
    await Promise.all(
      [...bySource].map(async ([source, own]) => {
        for (let at = 0; at < own.length; at += MOST_IN_BATCH) await post(source, own.slice(at, at + MOST_IN_BATCH));
      }),
    );
  }

  const send = (amount: number) => postAll(Array.from({ length: amount }, () => makeCall(new Date())));

  async function keepSending(): Promise<void> {
    let last = performance.now();
    let owed = 0;
    let stockAt = last + STOCK_EVERY_MS;
    while (!stopping.signal.aborted) {
      await pause(TICK_MS, stopping.signal);
      const now = performance.now();
      owed += (Math.min(now - last, MOST_MISSED_MS) * callsPerSecond) / 1_000;
      last = now;
      const amount = Math.floor(owed);
      owed -= amount;
      if (amount > 0 && !stopping.signal.aborted) await send(amount);
      if (now < stockAt || stopping.signal.aborted) continue;
      stockAt = now + STOCK_EVERY_MS;
      await postAll(makeStockCount(dice, new Date(), Math.ceil(callsPerSecond * STOCK_SECONDS)));
    }
  }

  return {
    send,
    start: () => void (traffic = keepSending()),
    sent: () => sent,
    async [Symbol.asyncDispose]() {
      stopping.abort();
      await traffic;
    },
  };
}
