import { nuid } from '@nats-io/nats-core';
import type { Connection } from '../nats/connect-nats.ts';
import { FORMATS } from '../../domain/format.ts';
import { PEERS_SUBJECT } from '../layout/layout.ts';
import { every } from '../../pause.ts';

/** How many deliver processes there are: a destination's limits are divided among them. */
export type Peers = Disposable & {
  count(): number;
  /** True in one of them at a time, as a rule: for work that need not be done by each. */
  isFirst(): boolean;
};

const BEAT_MS = 1_000;
/** A process without a heartbeat for this long counts as gone. */
export const GONE_AFTER_MS = 3_500;

/** Heard, never stored: a wrong count for a few seconds makes a limit too strict or too loose for that long. */
export function openPeers({ nc }: Connection, version = ''): Peers {
  // Older processes take all of it for an id, and an older control reads the first two words.
  const self = version === '' ? nuid.next() : `${nuid.next()} ${version} ${FORMATS.destination}`;
  const heardAt = new Map<string, number>([[self, Infinity]]);
  const subscription = nc.subscribe(PEERS_SUBJECT, {
    callback(error, message) {
      const id = error === null ? message.string() : self;
      if (id === self) return;
      // Answer at once: a new process must not use whole limits alone until our next beat.
      if (!heardAt.has(id)) nc.publish(PEERS_SUBJECT, self);
      heardAt.set(id, performance.now());
    },
  });
  const beat = () => {
    const goneBefore = performance.now() - GONE_AFTER_MS;
    for (const [id, at] of heardAt) if (at < goneBefore) heardAt.delete(id);
    if (!nc.isClosed()) nc.publish(PEERS_SUBJECT, self);
  };
  beat();
  const timer = every(BEAT_MS, beat);
  return {
    count: () => heardAt.size,
    isFirst: () => heardAt.keys().every((id) => id >= self),
    [Symbol.dispose]() {
      timer[Symbol.dispose]();
      subscription.unsubscribe();
    },
  };
}
