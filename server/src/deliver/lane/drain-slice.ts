import { type Delivery, deliveryId, giveUpAt } from '../../domain/delivery.ts';
import type { Dispatcher } from '../dispatch/dispatcher.ts';
import { concurrencyOf } from '../dispatch/gate.ts';
import type { RetrySchedule } from '../attempt/retry-schedule.ts';
import type { Settled, Settlement, Skipped } from '../settle/settle.ts';
import type { Taken, TierReader } from './tier-reader.ts';
import type { Webhook } from '../attempt/webhook.ts';

export type SliceNeeds = {
  /** As it is configured now; undefined when nothing may be sent any more. */
  webhook(): Webhook | undefined;
  readers: readonly TierReader[];
  /** `probe`: one attempt, and more only if it shows that the receiver is back. `expire`: none. */
  mode: 'drain' | 'probe' | 'expire';
  /** On the monotonic clock. */
  untilAt: number;
  dispatcher: Dispatcher;
  settle: Settlement['settle'];
  expire: Settlement['expire'];
  erase: Settlement['erase'];
  skip: Settlement['skip'];
  /** Of a delivery that was parked undecided: why the destination does not get it, if so. */
  skipOf(delivery: Delivery): Skipped | undefined;
  /** Whether its user was erased while it waited. */
  isErased(delivery: Delivery): boolean;
  schedule: RetrySchedule;
  /** Told now and then how many have left the lane. */
  passed(left: number): Promise<void>;
  isStopping(): boolean;
  /** Whether the lane has another holder now: what is under way is finished, and nothing more begins. */
  isLost(): boolean;
  now(): number;
  uptimeMs(): number;
};

export type DrainedSome = {
  attempted: number;
  /** Delivered or given up: no longer in the lane. */
  left: number;
  /** When the next one that waits is due; undefined when none could be seen. */
  nextDueAt: number | undefined;
  /** The tiers of which one was seen that waits. */
  seen: ReadonlySet<number>;
  /** The tiers whose next group is for a newer process. */
  newer: ReadonlySet<number>;
  /** There was more to be done at once. */
  isCutShort: boolean;
};

type Slice = SliceNeeds & {
  underWay: number;
  offered: number;
  attempted: number;
  left: number;
  /** The gate shut, or we are stopping: what was handed back stays in the lane. */
  isCut: boolean;
  wake: PromiseWithResolvers<void>;
  droppedAt: number;
};

/** Some may wait for the gate beside those under way, so that it never waits for us. */
const AHEAD = 4;
const DROP_EVERY_MS = 500;
/** So many of one look are no long backlog: a thousand small lanes must not stand in line behind a large one. */
const SHORT_BACKLOG = 20;
const EXPIRE_AT_ONCE = 64;

/** Attempts what is due in a lane, oldest first, until its time is up, the gate shuts or nothing is due any more. */
export async function drainSome(needs: SliceNeeds): Promise<DrainedSome> {
  const none = { underWay: 0, offered: 0, attempted: 0, left: 0, isCut: false };
  const slice: Slice = { ...needs, ...none, wake: Promise.withResolvers(), droppedAt: needs.uptimeMs() };
  try {
    while (mayGoOn(slice) && (await takeOne(slice))) {
      await dropNowAndThen(slice);
    }
  } finally {
    while (slice.underWay > 0) await nextEnd(slice);
  }
  const heads = await headsOf(slice.readers);
  const next = oldest(heads);
  const isMore = next !== undefined && isReady(slice, next.delivery);
  // What was handed back is due, and hides what comes after it.
  const nextDueAt = slice.isCut ? slice.now() : next?.delivery.dueAt;
  const seen = new Set(heads.map(({ reader }) => reader.tier));
  const newer = new Set(slice.readers.filter((reader) => reader.isNewer()).map(({ tier }) => tier));
  return { attempted: slice.attempted, left: slice.left, nextDueAt, seen, newer, isCutShort: isMore };
}

function mayGoOn({ isCut, isStopping, isLost, uptimeMs, untilAt }: Slice): boolean {
  return !isCut && !isStopping() && !isLost() && uptimeMs() < untilAt;
}

/** False when there is nothing more to do in this slice. */
async function takeOne(slice: Slice): Promise<boolean> {
  const webhook = slice.webhook();
  const next = oldest(await headsOf(slice.readers));
  if (webhook === undefined || next === undefined || !isReady(slice, next.delivery) || slice.isLost()) return false;
  const taken = next.reader.take();
  if (taken === undefined) return false;
  const finished = finishUnsent(slice, taken.delivery, webhook);
  if (finished !== undefined) {
    void finished.then((settled) => end(slice, taken, settled));
    slice.underWay += 1;
    await roomFor(slice, EXPIRE_AT_ONCE);
    return true;
  }
  attempt(slice, taken, webhook);
  if (slice.mode === 'drain') {
    await roomFor(slice, concurrencyOf(slice.dispatcher.gateOf(webhook.destinationId), webhook, 1) + AHEAD);
    return true;
  }
  await roomFor(slice, 1);
  if (slice.dispatcher.gateOf(webhook.destinationId).shut !== undefined) return false;
  slice.mode = 'drain';
  return true;
}

/** Undefined for a delivery that is to be attempted. */
function finishUnsent(slice: Slice, delivery: Delivery, webhook: Webhook): Promise<Settled> | undefined {
  if (slice.isErased(delivery) || isStranger(delivery, webhook)) return slice.erase(delivery, webhook);
  const skipped = delivery.isUndecided === true ? slice.skipOf(delivery) : undefined;
  if (skipped !== undefined) return slice.skip(delivery, webhook, skipped);
  delete delivery.isUndecided;
  return isOver(slice, delivery) ? slice.expire(delivery, webhook) : undefined;
}

/**
 * An entry of the destination that was not authentic named another source, and this event is that one's: it goes nowhere, and the
 * owner of the destination learns nothing of it.
 */
function isStranger({ isUndecided, id, event }: Delivery, { destinationId, sourceId }: Webhook): boolean {
  return isUndecided === true && id !== deliveryId(destinationId, sourceId, event.messageId);
}

type Head = { reader: TierReader; delivery: Delivery };

async function headsOf(readers: readonly TierReader[]): Promise<Head[]> {
  const heads: Head[] = [];
  for (const reader of readers) {
    const delivery = await reader.head();
    if (delivery !== undefined) heads.push({ reader, delivery });
  }
  return heads;
}

/** The first of those that are due first. */
function oldest(heads: readonly Head[]): Head | undefined {
  let first = heads[0];
  for (const head of heads) if (first !== undefined && head.delivery.dueAt < first.delivery.dueAt) first = head;
  return first;
}

function isReady(slice: Slice, delivery: Delivery): boolean {
  return isOver(slice, delivery) || (slice.mode !== 'expire' && delivery.dueAt <= slice.now());
}

function isOver({ schedule, webhook, now }: Slice, delivery: Delivery): boolean {
  return giveUpAt(delivery, schedule.windowMs, webhook()?.resumedAt) <= now();
}

function attempt(slice: Slice, taken: Taken, webhook: Webhook): void {
  const { delivery } = taken;
  slice.offered += 1;
  slice.underWay += 1;
  const job: Parameters<Dispatcher['probe']>[0] = {
    delivery,
    webhook,
    isLong: slice.offered > SHORT_BACKLOG,
    isWithdrawn: slice.isLost,
    finish(made) {
      if (made === undefined) {
        slice.isCut = true;
        end(slice, taken, undefined);
        return;
      }
      slice.attempted += 1;
      void slice.settle(delivery, webhook, made).then((settled) => end(slice, taken, settled));
    },
  };
  if (slice.mode === 'probe') slice.dispatcher.probe(job);
  else slice.dispatcher.offerBacklog(job);
}

/** Without a word on what became of it, a delivery was not touched. */
function end(slice: Slice, taken: Taken, settled: Settled | undefined): void {
  if (settled === undefined) taken.keep();
  else taken.done();
  if (settled !== undefined && settled !== 'retry' && settled !== 'untried') slice.left += 1;
  slice.underWay -= 1;
  slice.wake.resolve();
}

async function nextEnd(slice: Slice): Promise<void> {
  slice.wake = Promise.withResolvers();
  await slice.wake.promise;
}

async function roomFor(slice: Slice, most: number): Promise<void> {
  while (slice.underWay >= most) await nextEnd(slice);
}

async function dropNowAndThen(slice: Slice): Promise<void> {
  if (slice.uptimeMs() - slice.droppedAt < DROP_EVERY_MS) return;
  for (const reader of slice.readers) await reader.drop();
  slice.droppedAt = slice.uptimeMs();
  if (slice.mode === 'drain') await slice.passed(slice.left);
}
