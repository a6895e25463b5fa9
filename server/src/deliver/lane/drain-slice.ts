import { isBatchFormat, MAX_BATCHED_BYTES, MAX_BATCHED_EVENTS } from '@millrace/contract';
import { chainOf, type Delivery, giveUpAt } from '../../domain/delivery.ts';
import type { Hurry } from '../../domain/read-ticket.ts';
import type { Attempt } from '../attempt/attempt.ts';
import type { Dispatcher } from '../dispatch/dispatcher.ts';
import { concurrencyOf } from '../dispatch/gate.ts';
import type { PendingAttempt } from '../dispatch/line.ts';
import { itemBytes } from '../dispatch/take-batch.ts';
import type { RetrySchedule } from '../attempt/retry-schedule.ts';
import type { Settled, Settlement, Skipped } from '../settle/settle.ts';
import { runChain } from './run-chain.ts';
import { ALONE, type TakenChain, type Taken } from './tier-group.ts';
import { chainBehind, headsOf, oldest } from './tier-heads.ts';
import type { TierReader } from './tier-reader.ts';
import { isStranger, type Webhook } from '../attempt/webhook.ts';

export type SliceNeeds = {
  /** As it is configured now; undefined when nothing may be sent any more. */
  webhook(): Webhook | undefined;
  readers: readonly TierReader[];
  /** `probe`: one attempt, and more only if it shows that the receiver is back. `expire`: none. */
  mode: 'drain' | 'probe' | 'expire';
  /** Attempts some that are not due, because a person asked for it. */
  hurry?: Hurry | undefined;
  /** On the monotonic clock. */
  untilAt: number;
  dispatcher: Dispatcher;
  settle: Settlement['settle'];
  expire: Settlement['expire'];
  erase: Settlement['erase'];
  skip: Settlement['skip'];
  /** For a delivery that was parked undecided: why the destination does not get it, if so. */
  skipOf(delivery: Delivery): Skipped | undefined;
  /** Whether its user was erased while it waited. */
  isErased(delivery: Delivery): boolean;
  schedule: RetrySchedule;
  /** Called now and then with how many have left the lane. */
  passed(left: number): Promise<void>;
  isStopping(): boolean;
  /** Whether the lane has another holder now: attempts under way are finished, and no more begin. */
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
  /** The tiers in which a waiting delivery was seen. */
  seen: ReadonlySet<number>;
  /** The tiers whose next group is for a newer process. */
  newer: ReadonlySet<number>;
  /** More deliveries are due at once. */
  isCutShort: boolean;
  /** More deliveries are to be hurried. */
  isHurryLeft: boolean;
};

/** A few deliveries wait at the gate beside those under way, so that a free place is used at once. */
const AHEAD = 4;
/**
 * Deliveries that are done leave the stream after this time, or when they are this many: a holder that is killed repeats the others. A
 * stream in which removing takes long is spared: most of the time is for deliveries.
 */
const DROP_EVERY_MS = 500;
const DROP_AFTER = 32;
const DROP_SHARE = 0.1;
/** The first 20 of a drain bypass the backlog window: a thousand small lanes must not wait behind a large one. */
const SHORT_BACKLOG = 20;
const EXPIRE_AT_ONCE = 64;
/** The same for batches: they are under way a few at a time, and so is the memory that they take. */
const BATCHES_AT_ONCE = 8;
/** How long chains go on while nothing else is due: deliveries that are parked meanwhile wait for the next look. */
const CHAINS_ALONE_MS = 2_000;
/** Of the groups that chains under way are in. */
const MAX_CHAIN_BYTES = 32_000_000;
/** Each may be in a group of its own that is done in part when the look ends, and a position names a hundred of these (tier-reader.ts). */
const MAX_CHAINS = 90;
/** How long the rest of a chain is waited for that another process is storing. */
const REST_PATIENCE_MS = 10_000;

/**
 * Attempts the deliveries of a lane that are due, oldest first, until its time is up, the gate shuts or none is due any more. In
 * mode `probe` the first answer that opens the gate turns it into `drain`. The dispatcher finishes each attempt; a delivery that
 * it hands back without one cuts the slice short and stays in the lane.
 */
// oxlint-disable-next-line max-lines-per-function -- a factory: its parts share its state
export async function drainSome(needs: SliceNeeds): Promise<DrainedSome> {
  const { readers, dispatcher, isStopping, isLost, now, uptimeMs } = needs;
  let { mode } = needs;
  let underWay = 0;
  /** Of the batches that they will be part of. */
  let underWayBytes = 0;
  let offered = 0;
  let attempted = 0;
  let left = 0;
  /** The gate shut, or the process is stopping. */
  let isCut = false;
  /** The chains under way, with the bytes of their groups. */
  const chains = new Map<string, number>();
  /** When the chains under way have to end, and whether one had to. */
  let chainsUntil = Infinity;
  let isChainLeft = false;
  let wake = Promise.withResolvers<void>();
  let droppedAt = uptimeMs();
  let droppingMs = 0;
  /** Deliveries that are done since then. */
  let done = 0;

  function mayGoOn(): boolean {
    return !isCut && !isStopping() && !isLost() && uptimeMs() < needs.untilAt;
  }

  /** False when there is nothing more to do in this slice. */
  async function takeOne(): Promise<boolean> {
    const webhook = needs.webhook();
    const next = oldest((await headsOf(readers)).filter(({ delivery }) => isReady(delivery)));
    if (webhook === undefined || next === undefined || isLost()) return false;
    const taken = next.reader.take();
    if (taken === undefined) return false;
    const isOrdered = webhook.order === 'user' && mode !== 'expire';
    const chain = isOrdered ? await chainBehind(next, taken) : ALONE;
    if (isOrdered && mustWait(taken, chain)) {
      for (const link of [taken, ...chain.behind]) link.keep();
      isChainLeft = true;
      return true;
    }
    if (chain.behind.length > 0 || chain.isInTurn) return startChain(taken, chain, webhook);
    const finished = finishUnsent(taken.delivery, webhook);
    if (finished !== undefined) {
      void finished.then((settled) => end(taken, settled));
      underWay += 1;
      await roomFor(EXPIRE_AT_ONCE);
      return true;
    }
    attempt(taken, webhook);
    if (mode === 'drain') {
      await roomFor(mostUnderWay(webhook));
      return true;
    }
    await roomFor(1);
    return noticeBack(webhook);
  }

  /** Whether the receiver is back. */
  function noticeBack({ destinationId }: Webhook): boolean {
    if (dispatcher.gateOf(destinationId).shut !== undefined) return false;
    mode = 'drain';
    return true;
  }

  /** A chain counts as one delivery under way, however long it is: those of other users are attempted beside it. */
  async function startChain(first: Taken, chain: TakenChain, webhook: Webhook): Promise<boolean> {
    const { behind, isInTurn, bytes } = chain;
    const name = chainOf(first.delivery) ?? '';
    const answered = Promise.withResolvers<void>();
    const attemptNext = (delivery: Delivery) => {
      if (mode === 'probe') noticeBack(webhook);
      // Settings may change meanwhile: the next link follows the new ones.
      const latest = needs.webhook() ?? webhook;
      return new Promise<Attempt | undefined>((finish) => offer(delivery, latest, finish)).finally(answered.resolve);
    };
    underWay += 1;
    chains.set(name, bytes);
    const maySend = () => {
      const isTimeUp = uptimeMs() >= Math.min(chainsUntil, needs.untilAt);
      isChainLeft ||= isTimeUp;
      return !isTimeUp && mayGoOn() && needs.webhook() !== undefined;
    };
    const own = { finishUnsent, attempt: attemptNext, end: leave, mayGoOn: maySend, isInTurn };
    const all = [first, ...behind];
    const ran = runChain(all, webhook, { ...needs, ...own })
      .then(() => chains.delete(name))
      .then(freeRoom);
    if (mode === 'probe') {
      await Promise.race([answered.promise, ran]);
      return noticeBack(webhook);
    }
    await roomFor(mostUnderWay(webhook));
    return true;
  }

  /** Behind another part of the chain, in memory or on its way to the lane: it would overtake that one when it fails. */
  function mustWait({ delivery }: Taken, { lacksMoreSince }: TakenChain): boolean {
    const isUnderWay = chains.size > 0 && chains.has(chainOf(delivery) ?? '');
    return isUnderWay || (lacksMoreSince !== undefined && now() < lacksMoreSince + REST_PATIENCE_MS);
  }

  function mostUnderWay(webhook: Webhook): number {
    if (!isBatchFormat(webhook.format)) return abreast(webhook) + AHEAD;
    return Math.min(abreast(webhook) + 1, BATCHES_AT_ONCE) * MAX_BATCHED_EVENTS;
  }

  /** At a host that is at its cap no more would start, and they would only wait in memory. */
  function abreast(webhook: Webhook): number {
    const { destinationId } = webhook;
    return dispatcher.waitsForHost(destinationId) ? 1 : concurrencyOf(dispatcher.gateOf(destinationId), webhook, 1);
  }

  /** Undefined for a delivery that is to be attempted. */
  function finishUnsent(delivery: Delivery, webhook: Webhook): Promise<Settled> | undefined {
    if (needs.isErased(delivery) || isStranger(delivery, webhook)) return needs.erase(delivery, webhook);
    const skipped = delivery.isUndecided === true ? needs.skipOf(delivery) : undefined;
    if (skipped !== undefined) return needs.skip(delivery, webhook, skipped);
    delete delivery.isUndecided;
    return isOver(delivery) ? needs.expire(delivery, webhook) : undefined;
  }

  function isReady(delivery: Delivery): boolean {
    return isOver(delivery) || (mode !== 'expire' && (delivery.dueAt <= now() || isHurried(delivery)));
  }

  /** Never one that was attempted since the hurry was asked for: a receiver that fails is not hammered. */
  function isHurried({ dueAt, takenAt, history }: Delivery): boolean {
    const { hurry } = needs;
    if (hurry === undefined || (history.at(-1)?.at ?? takenAt) > hurry.at) return false;
    return hurry.upTo === undefined ? offered === 0 : dueAt <= hurry.upTo;
  }

  function isOver(delivery: Delivery): boolean {
    return giveUpAt(delivery, needs.schedule.windowMs, needs.webhook()?.resumedAt) <= now();
  }

  function attempt(taken: Taken, webhook: Webhook): void {
    const { delivery } = taken;
    underWay += 1;
    offer(delivery, webhook, (made) => {
      if (made === undefined) end(taken, undefined);
      else void needs.settle(delivery, webhook, made).then((settled) => end(taken, settled));
    });
  }

  function offer(delivery: Delivery, webhook: Webhook, finish: PendingAttempt['finish']): void {
    const isBatched = isBatchFormat(webhook.format);
    offered += 1;
    const pending: PendingAttempt = {
      delivery,
      webhook,
      isLong: offered > SHORT_BACKLOG * (isBatched ? MAX_BATCHED_EVENTS : 1),
      isWithdrawn: isLost,
      finish(made) {
        underWayBytes -= bytes;
        if (made === undefined) isCut = true;
        else attempted += 1;
        finish(made);
      },
    };
    const bytes = isBatched ? (itemBytes(pending) ?? 0) : 0;
    underWayBytes += bytes;
    if (mode === 'probe') dispatcher.probe(pending);
    else dispatcher.offerBacklog(pending);
  }

  function end(taken: Taken, settled: Settled | undefined): void {
    leave(taken, settled);
    freeRoom();
  }

  /** Without `settled`, the delivery was not touched. */
  function leave(taken: Taken, settled: Settled | undefined): void {
    if (settled === undefined) taken.keep();
    else {
      taken.done();
      done += 1;
    }
    if (settled !== undefined && settled !== 'retry' && settled !== 'untried') left += 1;
  }

  function freeRoom(): void {
    underWay -= 1;
    wake.resolve();
  }

  async function roomFor(most: number): Promise<void> {
    const chainBytes = () => chains.values().reduce((sum, bytes) => sum + bytes, 0);
    const isLarge = () => underWayBytes >= MAX_BATCHED_BYTES * BATCHES_AT_ONCE || chainBytes() >= MAX_CHAIN_BYTES;
    const isFull = () => underWay >= most || chains.size >= MAX_CHAINS || (underWay > 0 && isLarge());
    while (isFull()) {
      wake = Promise.withResolvers();
      await wake.promise;
    }
  }

  async function dropNowAndThen(): Promise<void> {
    const waitedMs = uptimeMs() - droppedAt;
    const isMuch = done >= DROP_AFTER && waitedMs * DROP_SHARE >= droppingMs;
    if (waitedMs < DROP_EVERY_MS && !isMuch) return;
    done = 0;
    const startedAt = uptimeMs();
    for (const reader of readers) await reader.drop();
    droppedAt = uptimeMs();
    droppingMs = droppedAt - startedAt;
    if (mode === 'drain') await needs.passed(left);
  }

  try {
    while (mayGoOn() && (await takeOne())) await dropNowAndThen();
  } finally {
    chainsUntil = uptimeMs() + CHAINS_ALONE_MS;
    await roomFor(1);
  }
  const heads = await headsOf(readers);
  const next = oldest(heads);
  const isCutShort = isChainLeft || heads.some(({ delivery }) => isReady(delivery));
  const isHurryLeft = needs.hurry !== undefined && (isCut || isCutShort);
  return {
    attempted,
    left,
    // A delivery that was handed back is due, and hides those behind it.
    nextDueAt: isCut || isChainLeft || isHurryLeft ? now() : next?.delivery.dueAt,
    seen: new Set(heads.map(({ reader }) => reader.tier)),
    newer: new Set(readers.filter((reader) => reader.isNewer()).map(({ tier }) => tier)),
    isCutShort,
    isHurryLeft,
  };
}
