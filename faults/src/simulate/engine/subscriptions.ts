import type { Msg } from '@nats-io/nats-core';
import { matches } from './wire.ts';

export type Callback = (error: Error | null, message: Msg) => void;
export type ModelSubscription = {
  subject: string;
  callback: Callback;
  isClosed: boolean;
  closed: PromiseWithResolvers<void>;
  timer?: NodeJS.Timeout;
};

/** The subscriptions of one connection, found by the subject of a message. */
export type Subscriptions = {
  add(own: ModelSubscription): void;
  remove(own: ModelSubscription): void;
  of(subject: string): ModelSubscription[];
  all(): ModelSubscription[];
};

const isWild = (subject: string): boolean => subject.includes('*') || subject.endsWith('>');

export function openSubscriptions(): Subscriptions {
  const wild = new Set<ModelSubscription>();
  const exact = new Map<string, Set<ModelSubscription>>();
  return {
    add(own) {
      if (isWild(own.subject)) wild.add(own);
      else exact.set(own.subject, (exact.get(own.subject) ?? new Set()).add(own));
    },
    remove(own) {
      wild.delete(own);
      const same = exact.get(own.subject);
      same?.delete(own);
      if (same?.size === 0) exact.delete(own.subject);
    },
    of: (subject) => [...(exact.get(subject) ?? []), ...wild.values().filter((own) => matches(own.subject, subject))],
    all: () => [...wild, ...exact.values().flatMap((same) => [...same])],
  };
}
