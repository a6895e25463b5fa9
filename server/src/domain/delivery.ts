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

export type AttemptNote = { at: number; answers: AnswerNote[] };
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
