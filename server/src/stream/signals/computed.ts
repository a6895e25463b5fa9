import { COMPUTED_SUBJECT } from '../layout/layout.ts';
import type { Connection } from '../nats/connect-nats.ts';

/** A core message without content, never stored: whoever misses it looks again after a second. */
export function tellComputed(connection: Connection): void {
  if (connection.isConnected()) connection.nc.publish(COMPUTED_SUBJECT);
}

/** Calls when a process has changed something that compute waits for. */
export function onComputed({ nc }: Connection, told: () => void): Disposable {
  const subscription = nc.subscribe(COMPUTED_SUBJECT, {
    callback(error) {
      if (error === null) told();
    },
  });
  return { [Symbol.dispose]: () => subscription.unsubscribe() };
}
