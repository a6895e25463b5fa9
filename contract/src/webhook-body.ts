import type { AcceptedEvent } from './call.ts';

export type BodyFormat = 'documented' | 'full';

/**
 * The bytes a receiver gets. Always the text of JSON.stringify over parsed data, so that a receiver who parses the body
 * and writes it again gets the same text and can check the signature.
 */
export function webhookBody(event: AcceptedEvent, format: BodyFormat): string {
  return JSON.stringify(format === 'full' ? event : documentedBody(event));
}

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
  const { type, userId, anonymousId, timestamp, context } = event;
  const start = { version: 1, type };
  const user = { userId, anonymousId };
  const end = { timestamp, context };
  const properties = event.properties ?? {};
  const traits = event.traits ?? {};
  switch (type) {
    case 'track':
      return { ...start, ...user, event: event.event, properties, ...end };
    case 'page':
      return { ...start, ...user, name: event.name, category: event.category, properties, ...end };
    case 'screen':
      return { ...start, ...user, name: event.name ?? '', properties: event.properties, ...end };
    case 'identify':
      return { ...start, ...user, traits, ...end };
    case 'group':
      return { ...start, groupId: event.groupId, ...user, traits, ...end };
    case 'alias':
      return { ...start, 'Previous ID': event.previousId, 'User ID': userId, anonymousId, ...end };
  }
}
