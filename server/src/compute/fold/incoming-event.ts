import { hash } from 'node:crypto';
import { type AcceptedEvent, parseTimestamp } from '@millrace/contract';
import { eventName } from '../../domain/event-name.ts';

/** An event of a source, as the reader of a stream hands it on. */
export type SourceEvent = { workspaceId: string; sourceId: string; event: AcceptedEvent };

/** An event with what the fold needs of it again and again. */
export type IncomingEvent = {
  event: AcceptedEvent;
  sourceId: string;
  /** The name of a track event, page or screen, '' for all others. */
  name: string;
  /** When it happened; never later than its receipt. */
  at: number;
  receivedAt: number;
  hash: number;
};

export function incomingEvent({ event, sourceId }: SourceEvent): IncomingEvent {
  const receivedAt = parseTimestamp(event.receivedAt) ?? 0;
  const at = Math.min(parseTimestamp(event.timestamp) ?? receivedAt, receivedAt);
  const name = eventName(event);
  return { event, sourceId, name: typeof name === 'string' ? name : '', at, receivedAt, hash: hash48(event.messageId) };
}

/** The first 48 bits of a SHA-256: among the 256 ids of a profile a false duplicate is one in 10^12. */
export function hash48(text: string): number {
  return Number.parseInt(hash('sha256', text).slice(0, 12), 16);
}
