import { COMPUTED_SUBJECT } from '../layout/layout.ts';
import type { Connection } from '../nats/connect-nats.ts';

/** A change that compute waits for: of definitions, or transitions to be sent. */
export type ComputedChange = 'definitions' | 'outbox';

/** A core message, never stored: a process that misses it looks again after a second. */
export function tellComputed(connection: Connection, change: ComputedChange): void {
  if (connection.isConnected()) connection.nc.publish(COMPUTED_SUBJECT, change);
}

/** Calls when a process has changed something that compute waits for. */
export function onComputed({ nc }: Connection, told: (change: ComputedChange) => void): Disposable {
  const subscription = nc.subscribe(COMPUTED_SUBJECT, {
    callback(error, message) {
      if (error === null) told(message.string() === 'definitions' ? 'definitions' : 'outbox');
    },
  });
  return { [Symbol.dispose]: () => subscription.unsubscribe() };
}
