import type { Connection } from '../nats/connect-nats.ts';
import { REFUSED_SUBJECT } from '../layout/layout.ts';

/** Calls of one source that collect refused lately, all for the same reason. */
export type RefusedCalls = {
  workspaceId: string;
  sourceId: string;
  code: string;
  count: number;
  at: string;
  /** Some of them, newest first. */
  samples: { at: string; messageId?: string; message: string; call?: string }[];
};

/** Sent, never stored: collect must not wait for the sake of calls that it does not take. */
export function tellRefused({ nc }: Connection, refused: RefusedCalls): void {
  nc.publish(REFUSED_SUBJECT, JSON.stringify(refused));
}

/** Each goes to one subscriber of the queue. */
export function onRefused({ nc }: Connection, told: (refused: RefusedCalls) => void): Disposable {
  const subscription = nc.subscribe(REFUSED_SUBJECT, {
    queue: 'control',
    callback(error, message) {
      if (error === null) told(message.json<RefusedCalls>());
    },
  });
  return { [Symbol.dispose]: () => subscription.unsubscribe() };
}
