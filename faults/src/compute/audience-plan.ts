/**
 * The calls, and the transitions that follow from them. The definitions are chosen so that the number of transitions of a user does not depend on the
 * order in which two readers meet the events: an uninterrupted run has exactly these.
 */
import type { ComputedValue } from '../../../server/src/compute/profiles/profile-store.ts';
import type { Condition, Definition, TraitDefinition } from '@millrace/contract/audiences';
import type { Random } from '../seeded-random.ts';

export type Call = {
  type: 'track';
  messageId: string;
  userId: string;
  event: string;
  timestamp?: string;
  properties: { revenue: number; category: string };
};

const MINUTE_MS = 60_000;
const CATEGORIES = ['shoes', 'hats', 'bags', 'coats', 'belts'] as const;
const AT_LEAST = { regulars: 5, spenders: 100 };

/** By key. `idOf` gives the ids of those before. */
export const DEFINITIONS: readonly [key: string, of: (idOf: (key: string) => string) => Definition][] = [
  ['regulars', () => audience({ event: 'Order', window: '30d', atLeast: AT_LEAST.regulars })],
  ['exactly_two', () => audience({ event: 'Order', exactly: 2 })],
  [
    'spenders',
    () => audience({ event: 'Order', sum: 'properties.revenue', window: '30d', atLeast: AT_LEAST.spenders }),
  ],
  ['both', (idOf) => audience({ all: [{ audience: idOf('regulars') }, { audience: idOf('spenders') }] })],
  ['visitors', () => audience({ event: 'Visit', window: '1m', atLeast: 1 })],
  ['orders', () => trait({ compute: 'count', event: 'Order' })],
  ['categories', () => trait({ compute: 'unique_count', event: 'Order', field: 'properties.category' })],
];

function audience(when: Condition): Definition {
  return { kind: 'audience', name: 'Faults', when };
}

function trait(fields: Pick<TraitDefinition, 'compute' | 'event' | 'field'>): Definition {
  return { kind: 'trait', name: 'Faults', settleSeconds: 0, ...fields };
}

export function orderCall(random: Random, number: number, users: number): Call {
  const userId = `u${Math.floor(random.next() * users)}`;
  const properties = { revenue: Math.round(random.between(100, 3_000)) / 100, category: random.pick(CATEGORIES) };
  return { type: 'track', messageId: `order-${number}`, userId, event: 'Order', properties };
}

/** A visit that no longer counts from this whole minute on. */
export function visitCall(number: number, until: number): Call {
  const timestamp = new Date(until - 1.5 * MINUTE_MS).toISOString();
  const properties = { revenue: 0, category: '' };
  return { type: 'track', messageId: `visit-${number}`, userId: `v${number}`, event: 'Visit', timestamp, properties };
}

/** The first whole minute that is at least so far away. */
export function minuteAfter(now: number, ms: number): number {
  return Math.ceil((now + ms) / MINUTE_MS) * MINUTE_MS;
}

/** The last transition of a user and definition. */
export type Expected = { sequence: number; value: ComputedValue };

/** By `user key`, of all distinct calls once the visits are over. Pairs without a transition are left out. */
export function expectTransitions(calls: Iterable<Call>): Map<string, Expected> {
  const expected = new Map<string, Expected>();
  for (const [userId, own] of Map.groupBy(calls, (call) => call.userId)) {
    const note = (key: string, sequence: number, value: ComputedValue) => {
      if (sequence > 0) expected.set(`${userId} ${key}`, { sequence, value });
    };
    const orders = own.filter(({ event }) => event === 'Order');
    const revenue = orders.reduce((sum, { properties }) => sum + Math.round(properties.revenue * 100), 0) / 100;
    const isRegular = orders.length >= AT_LEAST.regulars;
    const isSpender = revenue >= AT_LEAST.spenders;
    const categories = new Set(orders.map(({ properties }) => properties.category)).size;
    note('regulars', Number(isRegular), true);
    note('exactly_two', Math.max(0, Math.min(2, orders.length - 1)), orders.length === 2);
    note('spenders', Number(isSpender), true);
    note('both', Number(isRegular && isSpender), true);
    note('visitors', own.length > orders.length ? 2 : 0, false);
    note('orders', orders.length, orders.length);
    note('categories', categories, categories);
  }
  return expected;
}
