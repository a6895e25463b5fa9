import type { AcceptedEvent } from '@millrace/contract';
import { type ComputedRoute, readEnvelope, readRequest } from '../../domain/read-request.ts';

/** The header of a stored request with its envelope: ids, dates, numbers, an address; no text of users. */
export const ENVELOPE_HEADER = 'Millrace-Request';
export const TRACE_HEADER = 'traceparent';

/**
 * An accepted request is stored as the bytes that the client sent, with its envelope as a header. Collect serializes and copies
 * nothing; readers make the events from it, always the same ones. An unreadable request has none: deliver has put it into
 * quarantine. For a newer format this throws.
 */
export function readableCalls(envelope: string, body: Uint8Array): ReadableCalls {
  const read = readRequest(envelope, body);
  if (read.ok) return read.value;
  if (read.problem === 'newer') throw new Error(read.why);
  return { events: [], places: [] };
}

/** `places`: of each event among the calls of its request. `computed`: Millrace made the calls itself, and they go there. */
export type ReadableCalls = { events: AcceptedEvent[]; places: number[]; computed?: ComputedRoute };

export const readableEvents = (envelope: string, body: Uint8Array): AcceptedEvent[] =>
  readableCalls(envelope, body).events;

/** The envelope with more calls refused; as it was, when it cannot be read. */
export function withRefused(text: string, places: readonly number[]): string {
  const read = readEnvelope(text);
  if (!read.ok || places.length === 0) return text;
  return JSON.stringify({ ...read.value, refused: [...(read.value.refused ?? []), ...places] });
}
