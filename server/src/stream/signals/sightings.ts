import type { Connection } from '../nats/connect-nats.ts';
import { SEEN_SUBJECT } from '../layout/layout.ts';

/** What collect saw of one source lately: which of its keys were used, and names of track events. */
export type Sighting = {
  workspaceId: string;
  sourceId: string;
  keyHashes: string[];
  events: string[];
  /** How many calls of suppressed users this process has dropped on that day. */
  suppressed?: { process: string; day: string; count: number };
  at: string;
};

/** Sent, never stored: what gets lost on the way is seen again. */
export function tellSeen({ nc }: Connection, sighting: Sighting): void {
  nc.publish(SEEN_SUBJECT, JSON.stringify(sighting));
}

/** Each sighting goes to one of those who listen. */
export function onSeen({ nc }: Connection, seen: (sighting: Sighting) => void): Disposable {
  const subscription = nc.subscribe(SEEN_SUBJECT, {
    queue: 'control',
    callback(error, message) {
      if (error === null) seen(message.json<Sighting>());
    },
  });
  return { [Symbol.dispose]: () => subscription.unsubscribe() };
}
