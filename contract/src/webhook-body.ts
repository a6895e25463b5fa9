import type { AcceptedEvent } from './call.ts';

/** `batch` and `batch-full` put several events into one body, each in the form `documented` or `full`. */
export const BODY_FORMATS = ['documented', 'full', 'batch', 'batch-full'] as const;
export type BodyFormat = (typeof BODY_FORMATS)[number];

export function isBatchFormat(format: BodyFormat): boolean {
  return format === 'batch' || format === 'batch-full';
}

/**
 * The bytes a receiver gets for one event; a batch has them inside. Always the text of JSON.stringify over parsed data, so that a receiver who parses the body
 * and writes it again gets the same text and can check the signature.
 */
export function webhookBody(event: AcceptedEvent, format: BodyFormat): string {
  const isFull = format === 'full' || format === 'batch-full';
  return JSON.stringify(isFull ? event : documentedBody(event));
}

/** Fields beside the body of an event in a batch: the headers `webhook-id`, `X-Millrace-Attempt` and `X-Millrace-Order` that the event would have alone. */
export type BatchItem = { id: string; attempt: number; order: string };

/** One event of a batch, with the text that `webhookBody` gave. */
export function batchItem({ id, attempt, order }: BatchItem, body: string): string {
  return `{"id":${JSON.stringify(id)},"attempt":${attempt},"order":${JSON.stringify(order)},"body":${body}}`;
}

export function batchBody(items: readonly string[]): string {
  return `${BATCH_START}${items.join(',')}]}`;
}

const BATCH_START = '{"version":1,"type":"batch","events":[';
/** The bytes of a batch beside its items; each item but the first takes a comma more. */
export const BATCH_FRAME_BYTES = BATCH_START.length + 2;

/** A deletion request on its way to one destination. It is delivered like an event, and is none. */
export interface DeleteEvent {
  type: 'delete';
  messageId: string;
  userId: string;
  receivedAt: string;
  timestamp: string;
}

/** Tells a receiver to erase a user; it carries nothing about the user but the id. */
export function deleteBody({ userId, timestamp }: { userId: string; timestamp: string }): string {
  return JSON.stringify({ type: 'delete', userId, timestamp });
}

/** Fields that are undefined are left out by JSON.stringify; the order of the rest is what receivers see. */
function documentedBody(event: AcceptedEvent): object {
  // Written out for each type: joined from shared parts, a body takes three times as long, and there is one for every delivery.
  const { type, userId, anonymousId, timestamp, context } = event;
  const { properties = {}, traits = {} } = event;
  const version = 1;
  switch (type) {
    case 'track':
      return { version, type, userId, anonymousId, event: event.event, properties, timestamp, context };
    case 'page': {
      const { name, category } = event;
      return { version, type, userId, anonymousId, name, category, properties, timestamp, context };
    }
    case 'screen': {
      const { name = '', properties: given } = event;
      return { version, type, userId, anonymousId, name, properties: given, timestamp, context };
    }
    case 'identify':
      return { version, type, userId, anonymousId, traits, timestamp, context };
    case 'group':
      return { version, type, groupId: event.groupId, userId, anonymousId, traits, timestamp, context };
    case 'alias':
      return { version, type, 'Previous ID': event.previousId, 'User ID': userId, anonymousId, timestamp, context };
  }
}
