import { randomUUID } from 'node:crypto';
import type { Subscription } from '@nats-io/nats-core';
import type { Connection } from '../nats/connect-nats.ts';
import { isMatch, keyOf, type TailBatch, type TailEntry, type TailFilter, WANT_EVERY_MS } from './tail-entry.ts';
import { tailSubject, wantSubject } from '../layout/layout.ts';

/** Control listens to the live tail. */
export type Tails = {
  /** Calls with the entries that match the filter, and how many more matched and were not sent. */
  listen(sourceId: string, filter: TailFilter, heard: Listener['heard']): Listening;
};

export type Listening = Disposable & {
  /** Resolves when NATS has the filter, or is away: it is announced again every two seconds. */
  told: Promise<void>;
};

type Listener = { filter: TailFilter; heard(entries: TailEntry[], leftOut: number): void };
type Source = { listeners: Set<Listener>; subscription: Subscription };

/** With more different filters than these, the listener asks for everything. */
const MAX_FILTERS = 20;

// oxlint-disable-next-line max-lines-per-function -- a factory: its parts share its state
export function openTails({ nc }: Connection): Tails & Disposable {
  const from = randomUUID();
  const sources = new Map<string, Source>();
  let timer: NodeJS.Timeout | undefined;

  function open(sourceId: string): Source {
    const listeners = new Set<Listener>();
    const subscription = nc.subscribe(tailSubject(sourceId), {
      callback(error, message) {
        if (error !== null) return;
        const batch = message.json<TailBatch>();
        for (const listener of listeners) hand(batch, listener);
      },
    });
    const source = { listeners, subscription };
    sources.set(sourceId, source);
    timer ??= setInterval(() => {
      for (const [id, each] of sources) announce(id, each);
    }, WANT_EVERY_MS);
    return source;
  }

  function announce(sourceId: string, { listeners }: Source): void {
    if (nc.isClosed()) return;
    const different = new Map([...listeners].map(({ filter }) => [keyOf(filter), filter]));
    const filters = different.size > MAX_FILTERS ? [{}] : [...different.values()];
    nc.publish(wantSubject(sourceId), JSON.stringify({ from, filters }));
  }

  function leave(sourceId: string, source: Source): void {
    announce(sourceId, source);
    if (source.listeners.size > 0) return;
    source.subscription.unsubscribe();
    sources.delete(sourceId);
    if (sources.size > 0) return;
    clearInterval(timer);
    timer = undefined;
  }

  return {
    listen(sourceId, filter, heard) {
      const source = sources.get(sourceId) ?? open(sourceId);
      const listener = { filter, heard };
      source.listeners.add(listener);
      announce(sourceId, source);
      return {
        told: nc.flush().catch(() => undefined),
        [Symbol.dispose]() {
          if (source.listeners.delete(listener)) leave(sourceId, source);
        },
      };
    },
    [Symbol.dispose]() {
      clearInterval(timer);
      for (const { subscription } of sources.values()) subscription.unsubscribe();
      sources.clear();
    },
  };
}

/** With too many different filters, only the entries left out of all are counted. */
function hand({ entries, leftOut }: TailBatch, { filter, heard }: Listener): void {
  const fitting = entries.filter((entry) => isMatch(filter, entry.type, entry));
  const missed = leftOut[keyOf(filter)] ?? leftOut[keyOf({})] ?? 0;
  if (fitting.length > 0 || missed > 0) heard(fitting, missed);
}
