/**
 * Which deliveries of a line go into one POST. Those of one batch have the same settings and the same targets left, and follow each
 * other in the line. A delivery that failed in a batch is in smaller ones from then on, and at last alone: so one that its receiver
 * cannot take does not keep the others from it.
 */
import { BATCH_FRAME_BYTES, isBatchFormat, MAX_BATCHED_BYTES, MAX_BATCHED_EVENTS } from '@millrace/contract';
import type { Delivery } from '../../domain/delivery.ts';
import type { Attempt } from '../attempt/attempt.ts';
import { itemOf } from '../attempt/make-posts.ts';
import type { Gate } from './gate.ts';
import type { Line, PendingAttempt, Picked } from './line.ts';

/** How many events a batch may have by the attempts that its deliveries have had; after more attempts, one. */
const MOST_AFTER = [MAX_BATCHED_EVENTS, 25, 5];
/** Below this a receiver that answers `413` to a batch would get events one by one anyway. */
const LEAST_BYTES = 1_000;
/** For this time batches stay below the size that a receiver refused; then it may have another limit. */
const REFUSED_FOR_MS = 3_600_000;

/** Takes those out of the line that go with the picked one. Deliveries of the lane, which are older, come first. */
export function takeBatch(line: Line, { pending, isBacklog }: Picked, uptimeMs: number): PendingAttempt[] {
  if (!isBatchFormat(pending.webhook.format)) return [pending];
  const room = newRoom(pending, maxBytesOf(line.gate, uptimeMs));
  const ofFresh = ({ pending }: Line['fresh'][number]) => pending;
  const fresh = () => line.fresh.splice(0, countFitting(line.fresh, ofFresh, room)).map(ofFresh);
  // A part of a long backlog needs room in the window, which only the picked delivery has asked for.
  const mayTake = (one: PendingAttempt) => (isBacklog || one.isLong !== true ? one : undefined);
  const backlog = () => line.backlog.splice(0, countFitting(line.backlog, mayTake, room));
  if (isBacklog) return [pending, ...backlog(), ...fresh()];
  const newer = fresh();
  return [...backlog(), pending, ...newer];
}

type Room = { first: PendingAttempt; events: number; most: number; bytes: number; maxBytes: number };

function newRoom(first: PendingAttempt, maxBytes: number): Room {
  const bytes = BATCH_FRAME_BYTES + (itemBytes(first) ?? maxBytes);
  return { first, events: 1, most: mostFor(first.delivery), bytes, maxBytes };
}

function countFitting<T>(waiting: readonly T[], pendingOf: (one: T) => PendingAttempt | undefined, room: Room): number {
  let count = 0;
  for (const one of waiting) {
    const pending = pendingOf(one);
    if (pending === undefined || !takesRoom(room, pending)) break;
    count += 1;
  }
  return count;
}

function takesRoom(room: Room, pending: PendingAttempt): boolean {
  const { first, events, maxBytes } = room;
  const most = Math.min(room.most, mostFor(pending.delivery));
  if (events >= most || pending.webhook !== first.webhook || !haveSameTargets(first, pending)) return false;
  const own = itemBytes(pending);
  if (own === undefined || room.bytes + own + 1 > maxBytes) return false;
  room.events += 1;
  room.most = most;
  room.bytes += own + 1;
  return true;
}

function mostFor({ attempts }: Delivery): number {
  return MOST_AFTER[attempts] ?? 1;
}

/** Targets that are settled get no further POST. */
function haveSameTargets({ delivery: one, webhook }: PendingAttempt, { delivery: other }: PendingAttempt): boolean {
  if (one.settled === undefined && other.settled === undefined) return true;
  return webhook.targets.every(
    ({ url }) => (one.settled?.[url] === undefined) === (other.settled?.[url] === undefined),
  );
}

/** Makes the delivery's part of the body, once. Undefined for a bug of ours with this event: it goes alone, and its attempt tells. */
export function itemBytes(pending: PendingAttempt): number | undefined {
  try {
    pending.item ??= itemOf(pending.delivery, pending.webhook.format);
    return Buffer.byteLength(pending.item);
  } catch {
    return undefined;
  }
}

function maxBytesOf({ refusedBytes }: Gate, uptimeMs: number): number {
  if (refusedBytes === undefined || uptimeMs - refusedBytes.at > REFUSED_FOR_MS) return MAX_BATCHED_BYTES;
  return Math.max(LEAST_BYTES, refusedBytes.bytes / 2);
}

/** Notes the size of a batch that was too large for its receiver: later ones have half of it. */
export function learnSize(gate: Gate, attempt: Attempt, batch: readonly PendingAttempt[], uptimeMs: number): void {
  const isTooLarge = attempt.answers.some(({ answer }) => answer.kind === 'status' && answer.status === 413);
  if (!isTooLarge || batch.length === 1) return;
  const bytes = batch.reduce((sum, pending) => sum + 1 + (itemBytes(pending) ?? 0), BATCH_FRAME_BYTES);
  // Of several batches under way the smallest tells most.
  if (bytes <= maxBytesOf(gate, uptimeMs)) gate.refusedBytes = { bytes, at: uptimeMs };
}
