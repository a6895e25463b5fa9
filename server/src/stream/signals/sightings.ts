import type { Connection } from '../nats/connect-nats.ts';
import { SEEN_SUBJECT } from '../layout/layout.ts';

/** The keys of a source that collect saw in use lately, and the names of its track events. */
export type Sighting = {
  workspaceId: string;
  sourceId: string;
  keyHashes: string[];
  events: string[];
  /** How many calls of suppressed users this process has dropped on that day. */
  suppressed?: { process: string; day: string; count: number };
  at: string;
};

/** A core message, never stored: after a loss collect reports the same again. */
export function tellSeen({ nc }: Connection, sighting: Sighting): void {
  nc.publish(SEEN_SUBJECT, JSON.stringify(sighting));
}

/** Each sighting goes to one subscriber of the queue. */
export function onSeen({ nc }: Connection, seen: (sighting: Sighting) => void): Disposable {
  const subscription = nc.subscribe(SEEN_SUBJECT, {
    queue: 'control',
    callback(error, message) {
      if (error === null) seen(message.json<Sighting>());
    },
  });
  return { [Symbol.dispose]: () => subscription.unsubscribe() };
}
