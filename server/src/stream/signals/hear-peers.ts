import type { Subscription } from '@nats-io/nats-core';
import type { Connection } from '../nats/connect-nats.ts';
import { PEERS_SUBJECT } from '../layout/layout.ts';
import { GONE_AFTER_MS } from './peers.ts';

export type HeardPeer = { id: string; version: string | null };
/** Undefined while the NATS user may not listen. */
export type HeardPeers = Disposable & { list(): HeardPeer[] | undefined };

/** Deliver processes are few. */
const MOST = 1_000;
/** An id and a version are shorter. */
const MAX_BYTES = 200;
/** NATS drops a subscription that it denies, also when the user is allowed to listen later. */
const ASK_AGAIN_MS = 30_000;

/** Listens to the heartbeats of deliver processes: an id, and its version if the process is new enough to tell. */
// oxlint-disable-next-line max-lines-per-function -- a factory: its parts share its state
export function hearPeers({ nc }: Connection, askAgainMs = ASK_AGAIN_MS): HeardPeers {
  const heardAt = new Map<string, number>();
  let isDenied = false;
  let subscription: Subscription | undefined;
  let timer: NodeJS.Timeout | undefined;

  const forget = () => {
    const goneBefore = performance.now() - GONE_AFTER_MS;
    for (const [text, at] of heardAt) if (at < goneBefore) heardAt.delete(text);
  };
  const hear = (text: string) => {
    if (heardAt.size >= MOST) forget();
    if (heardAt.has(text) || heardAt.size < MOST) heardAt.set(text, performance.now());
  };
  const listen = () => {
    if (nc.isClosed()) return;
    let isRefused = false;
    subscription = nc.subscribe(PEERS_SUBJECT, {
      callback(error, message) {
        if (error === null) {
          if (message.data.length <= MAX_BYTES) hear(message.string());
          return;
        }
        isRefused = true;
        isDenied = true;
        clearTimeout(timer);
        timer = setTimeout(listen, askAgainMs).unref();
      },
    });
    // NATS answers in order, so a refusal has come before this answer. Without a connection it comes after the next one.
    const answered = () => {
      if (!isRefused) isDenied = false;
    };
    nc.flush().then(answered, answered);
  };
  listen();
  return {
    list() {
      forget();
      if (isDenied) return undefined;
      return [...heardAt.keys()].sort().map((text) => {
        const [id = '', version = null] = text.split(' ');
        return { id, version };
      });
    },
    [Symbol.dispose]() {
      clearTimeout(timer);
      subscription?.unsubscribe();
    },
  };
}
