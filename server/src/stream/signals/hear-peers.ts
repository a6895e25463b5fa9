import type { Connection } from '../nats/connect-nats.ts';
import { PEERS_SUBJECT } from '../layout/layout.ts';

export type HeardPeer = { id: string; version: string | null };
/** Undefined when the NATS user may not listen. */
export type HeardPeers = Disposable & { list(): HeardPeer[] | undefined };

const GONE_AFTER_MS = 3_500;
/** Deliver processes are few. */
const MOST = 1_000;

/** Listens to the heartbeats of deliver processes: an id, and its version if the process is new enough to tell. */
export function hearPeers({ nc }: Connection): HeardPeers {
  const heardAt = new Map<string, number>();
  let isDenied = false;
  const forget = () => {
    const goneBefore = performance.now() - GONE_AFTER_MS;
    for (const [text, at] of heardAt) if (at < goneBefore) heardAt.delete(text);
  };
  const subscription = nc.subscribe(PEERS_SUBJECT, {
    callback(error, message) {
      if (error !== null) {
        isDenied = true;
        return;
      }
      if (heardAt.size >= MOST) forget();
      if (heardAt.size < MOST) heardAt.set(message.string(), performance.now());
    },
  });
  return {
    list() {
      forget();
      if (isDenied) return undefined;
      return [...heardAt.keys()].sort().map((text) => {
        const [id = '', version = null] = text.split(' ');
        return { id, version };
      });
    },
    [Symbol.dispose]: () => subscription.unsubscribe(),
  };
}
