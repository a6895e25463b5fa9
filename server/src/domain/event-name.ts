import type { AcceptedEvent } from '@millrace/contract';

/** The name of a track event, page or screen; other calls have none. */
export function eventName(event: AcceptedEvent): string | undefined {
  if (event.type === 'track') return event.event;
  return event.type === 'page' || event.type === 'screen' ? event.name : undefined;
}
