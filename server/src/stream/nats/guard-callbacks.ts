import type { NatsConnection, SubscriptionOptions } from '@nats-io/nats-core';
import type { Logger } from '../../log.ts';

/**
 * The library ends its read loop when a subscription's callback throws: the connection still counts as connected and hears
 * nothing any more. So no callback may throw into it, for example because another process sent something that is not JSON.
 */
export function guardCallbacks(nc: NatsConnection, log: Logger): void {
  const subscribe = nc.subscribe.bind(nc);
  nc.subscribe = (subject: string, options: SubscriptionOptions = {}) => {
    const { callback } = options;
    if (callback === undefined) return subscribe(subject, options);
    return subscribe(subject, {
      ...options,
      callback(error, message) {
        try {
          void callback(error, message);
        } catch (thrown) {
          log.warn({ subject, error: String(thrown) }, 'message.dropped');
        }
      },
    });
  };
}
