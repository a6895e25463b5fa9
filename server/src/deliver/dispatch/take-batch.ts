/**
 * Which deliveries of a line go into one POST. Those of one batch have the same settings and the same targets left, and follow each
 * other in the line. A delivery that failed in a batch is in smaller ones from then on, and at last alone: so one that its receiver
 * cannot take does not keep the others from it.
 */
import { BATCH_FRAME_BYTES, isBatchFormat, MAX_BATCHED_BYTES, MAX_BATCHED_EVENTS } from '@millrace/contract';
import type { Delivery } from '../../domain/delivery.ts';
import type { Attempt } from '../attempt/attempt.ts';
import { meaningOf } from '../attempt/judge.ts';
import { itemOf } from '../attempt/make-posts.ts';
import type { Gate } from './gate.ts';
import type { Line, PendingAttempt, Picked } from './line.ts';

/** How many events a batch may have by the attempts that its deliveries have had; after more attempts, one. */
const MOST_AFTER = [MAX_BATCHED_EVENTS, 25, 5];
/** Below this a receiver that answers `413` to a batch would get events one by one anyway. */
const LEAST_BYTES = 1_000;
/** For this time batches stay below the size that a receiver refused; then it may have another limit. */
const REFUSED_FOR_MS = 3_600_000;
/** A receiver that refused so many requests in a row, and took none, refuses everything: divided batches would be four times the work. */
const ALL_REFUSED = 30;

/** Takes those out of the line that go with the picked one. Deliveries of the lane, which are older, come first. */
export function takeBatch(line: Line, { pending, isBacklog }: Picked, uptimeMs: number): PendingAttempt[] {
  if (!isBatchFormat(pending.webhook.format)) return [pending];
  const room = newRoom(pending, line.gate, uptimeMs);
  const ofFresh = ({ pending }: Line['fresh'][number]) => pending;
  const fresh = () => line.fresh.splice(0, countFitting(line.fresh, ofFresh, room)).map(ofFresh);
  // A part of a long backlog needs room in the window, which only the picked delivery has asked for.
  const mayTake = (one: PendingAttempt) => (isBacklog || one.isLong !== true ? one : undefined);
  const backlog = () => line.backlog.splice(0, countFitting(line.backlog, mayTake, room));
  if (isBacklog) return [pending, ...backlog(), ...fresh()];
  const newer = fresh();
  return [...backlog(), pending, ...newer];
}

type Room = { first: PendingAttempt; ids: Set<string>; most: number; bytes: number; maxBytes: number };

function newRoom(first: PendingAttempt, gate: Gate, uptimeMs: number): Room {
  const maxBytes = maxBytesOf(gate, uptimeMs);
  const bytes = BATCH_FRAME_BYTES + (itemBytes(first) ?? maxBytes);
  const { refusedInRow = 0, mostEvents = MAX_BATCHED_EVENTS } = gate;
  const most = refusedInRow < ALL_REFUSED ? Math.min(mostFor(first.delivery), mostEvents) : 1;
  return { first, ids: new Set([first.delivery.id]), most, bytes, maxBytes };
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
  const { first, ids, maxBytes } = room;
  const { id } = pending.delivery;
  const most = Math.min(room.most, mostFor(pending.delivery));
  if (ids.size >= most || pending.webhook !== first.webhook || !haveSameTargets(first, pending)) return false;
  // An event that was stored twice, or is fresh and in the lane: receivers write a batch in one go, and would take it twice.
  if (ids.has(id)) return false;
  const own = itemBytes(pending);
  if (own === undefined || room.bytes + own + 1 > maxBytes) return false;
  ids.add(id);
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

/** Notes what an attempt showed about the batches that the receiver can take. */
export function learnBatch(gate: Gate, attempt: Attempt, batch: readonly PendingAttempt[], uptimeMs: number): void {
  learnSize(gate, attempt, batch, uptimeMs);
  learnPace(gate, attempt, batch.length);
  learnRefusal(gate, attempt);
}

/** Notes the size of a batch that was too large for its receiver: later ones have half of it. */
export function learnSize(gate: Gate, attempt: Attempt, batch: readonly PendingAttempt[], uptimeMs: number): void {
  const isTooLarge = attempt.answers.some(({ answer }) => answer.kind === 'status' && answer.status === 413);
  if (!isTooLarge || batch.length === 1) return;
  const bytes = batch.reduce((sum, pending) => sum + 1 + (itemBytes(pending) ?? 0), BATCH_FRAME_BYTES);
  // Of several batches under way the smallest tells most.
  if (bytes <= maxBytesOf(gate, uptimeMs)) gate.refusedBytes = { bytes, at: uptimeMs };
}

/**
 * Batches that a receiver cannot handle in time get smaller by half, and larger by one event with each that it takes. Without this, one that
 * is slow and well would time out, be sent single events, recover, and time out again.
 */
export function learnPace(gate: Gate, { answers }: Attempt, events: number): void {
  const isLate = answers.some(({ answer }) => answer.kind === 'error' && answer.errorClass === 'timeout');
  // Of several batches under way the smallest tells most.
  if (isLate && events > 1) gate.mostEvents = Math.min(gate.mostEvents ?? Infinity, Math.floor(events / 2));
  if (isLate || gate.mostEvents === undefined || events < gate.mostEvents) return;
  if (!answers.some(({ answer }) => meaningOf(answer) === 'delivered')) return;
  if (gate.mostEvents < MAX_BATCHED_EVENTS) gate.mostEvents += 1;
  else delete gate.mostEvents;
}

/** Counts the requests that the receiver refused for good since it last took one. */
export function learnRefusal(gate: Gate, { answers }: Attempt): void {
  const meanings = answers.map(({ answer }) => meaningOf(answer));
  if (meanings.includes('delivered')) gate.refusedInRow = 0;
  else if (meanings.length > 0 && !meanings.includes('retry')) gate.refusedInRow = (gate.refusedInRow ?? 0) + 1;
}
