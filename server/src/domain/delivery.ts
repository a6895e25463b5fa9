import { hash } from 'node:crypto';
import type { AcceptedEvent, DeleteEvent } from '@millrace/contract';

/** One event on its way to one destination. It is what a lane keeps, so every field must survive JSON. */
export type Delivery = {
  /** Goes with every attempt as `webhook-id`: receivers recognise what they have seen by it. */
  id: string;
  event: AcceptedEvent | DeleteEvent;
  /** The source of its event, if that is not the one to which the destination is attached: a computed one. */
  sourceId?: string;
  /** Not routed yet: a process that understands the destination decides before the attempt whether it is sent. */
  isUndecided?: true;
  /** The place of its event among all of the source (see `EventOrder`); older versions wrote none. */
  order?: EventOrder;
  /** More of its chain are stored in a group behind this one's; only on the last link of a group. */
  hasMore?: true;
  /** Others of its chain are stored in a group before this one's; only on the first link of a group. */
  isMore?: true;
  /** The replay, or the retry of a dead letter, that made it. */
  replayId?: string;
  /** W3C `traceparent` of the append, when tracing is on. */
  trace?: string;
  /** When deliver first took it up. */
  takenAt: number;
  /** How many attempts have been made. */
  attempts: number;
  firstAttemptAt?: number;
  /** Not to be attempted before. */
  dueAt: number;
  /** Targets that need no further attempt, by URL. */
  settled?: Record<string, 'delivered' | 'failed'>;
  /** The latest attempts, oldest first; dead letters show them. */
  history: AttemptNote[];
};

/** `events`: how many were in the batch; without it, this one was alone. */
export type AttemptNote = { at: number; answers: AnswerNote[]; events?: number };
export type AnswerNote = { url: string; status?: number; error?: string; ms: number };

/** The tier of a lane for deliveries that were not attempted yet. */
export const UNTRIED_TIER = 0;
/** Far more than the schedule has steps. */
const MAX_HISTORY = 20;

export function newDelivery(id: string, event: AcceptedEvent | DeleteEvent, now: number): Delivery {
  return { id, event, takenAt: now, attempts: 0, dueAt: now, history: [] };
}

/**
 * Depends on the event and not on where it is stored: a request that was stored twice, or is read again after a crash or for a
 * replay, gives deliveries that receivers recognise.
 */
export function deliveryId(destinationId: string, sourceId: string, messageId: string): string {
  return `dlv_${hash('sha256', `${destinationId}\n${sourceId}\n${messageId}`, 'base64url').slice(0, 27)}`;
}

export function withAttempt(delivery: Delivery, note: AttemptNote): Delivery {
  return {
    ...delivery,
    attempts: delivery.attempts + 1,
    firstAttemptAt: delivery.firstAttemptAt ?? note.at,
    history: [...delivery.history, note].slice(-MAX_HISTORY),
  };
}

export { RETRY_WINDOW_MS } from '@millrace/contract/retry-schedule';

type Begun = Pick<Delivery, 'firstAttemptAt' | 'takenAt'>;

/** The end of the window. Time that a destination was paused does not count against what waited meanwhile. */
export function giveUpAt({ firstAttemptAt, takenAt }: Begun, windowMs: number, resumedAt = 0): number {
  return Math.max(firstAttemptAt ?? takenAt, resumedAt) + windowMs;
}

/**
 * The times of a delivery as they can be true, given when the engine stored it. The host that wrote them may have had a wrong
 * clock: a time in the future would hold up this delivery for days, and all behind it in its tier.
 */
export function boundTimes(delivery: Delivery, parkedAt: number, longestMs: number): Delivery {
  const { dueAt, takenAt, firstAttemptAt } = delivery;
  const latestAt = parkedAt + longestMs;
  if (dueAt <= latestAt && takenAt <= parkedAt && (firstAttemptAt ?? 0) <= parkedAt) return delivery;
  const bounded = { ...delivery, dueAt: Math.min(dueAt, latestAt), takenAt: Math.min(takenAt, parkedAt) };
  if (firstAttemptAt !== undefined) bounded.firstAttemptAt = Math.min(firstAttemptAt, parkedAt);
  return bounded;
}

export function encodeDeliveries(texts: readonly string[]): Buffer {
  return Buffer.from(`[${texts.join(',')}]`);
}

/**
 * The order of an event: a text that goes with each delivery as `X-Millrace-Order`. Bytewise, texts of one source sort as its events were
 * received, then as they are stored. All attempts and all destinations of an event have the same text, because it is made from what
 * is stored and from nothing else:
 *
 *     1794701330000-00-000000000004711-0003
 *     when collect received the request, in milliseconds since 1970
 *                   the number of its event stream
 *                      its sequence there
 *                                      the place of the call among the calls of the request
 */
export type EventOrder = string;

/** Where a request is stored. */
export type StoredPlace = { stream: number; sequence: number };

const TIME_DIGITS = 13;
/** There are 64 event streams at most. */
const STREAM_DIGITS = 2;
/** Enough for ten thousand requests a second in three thousand years. */
const SEQUENCE_DIGITS = 15;
/** A request has 2,500 calls at most. */
const CALL_DIGITS = 4;

/** The part of the order that all events of a request share. */
export function requestOrder(receivedAt: string, { stream, sequence }: StoredPlace): string {
  return `${timeOrder(receivedAt)}-${digits(stream, STREAM_DIGITS)}-${digits(sequence, SEQUENCE_DIGITS)}`;
}

export function eventOrder(ofRequest: string, place: number): string {
  return `${ofRequest}-${digits(place, CALL_DIGITS)}`;
}

/**
 * The order of a delivery. Only the time is known of one that an older version parked or buried, and of one whose event is not
 * stored: a deletion, a test.
 */
export function orderOf({ order, event }: Pick<Delivery, 'order' | 'event'>): string {
  return order ?? timeOrder(event.receivedAt);
}

/**
 * Names the events of one user in one request; undefined for a delivery that has neither. A destination with `order: user` gets the
 * deliveries of one chain one after the other.
 */
export function chainOf({ order, event }: Pick<Delivery, 'order' | 'event'>): string | undefined {
  if (order === undefined || event.type === 'delete') return undefined;
  const { userId, anonymousId } = event;
  const ofRequest = order.slice(0, -CALL_DIGITS);
  if (userId !== undefined) return `${ofRequest}u${userId}`;
  return anonymousId === undefined ? undefined : `${ofRequest}a${anonymousId}`;
}

export function isOfSameUser(one: Delivery['event'], other: Delivery['event']): boolean {
  if (one.type === 'delete' || other.type === 'delete') return false;
  return one.userId === other.userId && (one.userId !== undefined || one.anonymousId === other.anonymousId);
}

function timeOrder(receivedAt: string): string {
  return digits(Date.parse(receivedAt), TIME_DIGITS);
}

function digits(number: number, width: number): string {
  return String(number).padStart(width, '0');
}
