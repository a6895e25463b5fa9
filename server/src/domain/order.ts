/**
 * The order of events: a text that goes with each delivery as `X-Millrace-Order`. Bytewise, texts of one source sort as its events were
 * received, then as they are stored. All attempts and all destinations of an event have the same text, because it is made from what
 * is stored and from nothing else:
 *
 *     1794701330000-00-000000000004711-0003
 *     when collect received the request, in milliseconds since 1970
 *                   the number of its event stream
 *                      its sequence there
 *                                      the place of the call among the calls of the request
 */
import type { Delivery } from './delivery.ts';

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

function timeOrder(receivedAt: string): string {
  return digits(Date.parse(receivedAt), TIME_DIGITS);
}

function digits(number: number, width: number): string {
  return String(number).padStart(width, '0');
}
