import type { Subscription } from '@nats-io/nats-core';
import type { Connection } from '../nats/connect-nats.ts';

/** Undefined while the NATS user may not listen. */
export type HeardTexts = Disposable & { list(): string[] | undefined };
export type HearingSettings = { subject: string; goneAfterMs: number; askAgainMs?: number };

/** Processes are few. */
const MOST = 1_000;
/** Heartbeats are shorter. */
const MAX_BYTES = 200;
/** NATS drops a subscription that it denies, also when the user is allowed to listen later. */
const ASK_AGAIN_MS = 30_000;

/** Listens to heartbeats: the texts that came within the last seconds, each once. */
// oxlint-disable-next-line max-lines-per-function -- a factory: its parts share its state
export function hearTexts({ nc }: Connection, settings: HearingSettings): HeardTexts {
  const { subject, goneAfterMs, askAgainMs = ASK_AGAIN_MS } = settings;
  const heardAt = new Map<string, number>();
  let isDenied = false;
  let subscription: Subscription | undefined;
  let timer: NodeJS.Timeout | undefined;

  const forget = () => {
    const goneBefore = performance.now() - goneAfterMs;
    for (const [text, at] of heardAt) if (at < goneBefore) heardAt.delete(text);
  };
  const hear = (text: string) => {
    if (heardAt.size >= MOST) forget();
    if (heardAt.has(text) || heardAt.size < MOST) heardAt.set(text, performance.now());
  };
  const listen = () => {
    if (nc.isClosed()) return;
    let isRefused = false;
    subscription = nc.subscribe(subject, {
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
      return [...heardAt.keys()].sort();
    },
    [Symbol.dispose]() {
      clearTimeout(timer);
      subscription?.unsubscribe();
    },
  };
}
