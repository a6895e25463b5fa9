import { acceptRequest, type AcceptedEvent, type Envelope } from '@millrace/contract';

/** The header of a stored request that holds what we know of it: ids, dates, numbers, an address; no text of users. */
export const ENVELOPE_HEADER = 'Millrace-Request';
export const TRACE_HEADER = 'traceparent';

/**
 * An accepted request is stored as the bytes that the client sent, and its envelope as a header beside them. Nothing is
 * written anew or copied on the way in; readers make the events of it, always the same ones.
 */
export function decodeRequest(envelope: string, body: Uint8Array): AcceptedEvent[] {
  const text = Buffer.from(body.buffer, body.byteOffset, body.byteLength).toString();
  return acceptRequest(JSON.parse(text), JSON.parse(envelope) as Envelope);
}
