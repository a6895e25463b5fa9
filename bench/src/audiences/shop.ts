/**
 * A shop as the benches of audiences know it: 50 definitions over 12 event names, and events of which 2 % happened up to 10 days before their
 * receipt, 0.5 % come twice and 5 % are identify calls.
 */
import type { AcceptedEvent } from '@millrace/contract';
import type { Definition } from '@millrace/contract/audiences';
import type { SourceEvent } from '../../../server/src/compute/fold/incoming-event.ts';
import type { Dice } from '../../../server/testing/compute/dice.ts';

const DAY_MS = 86_400_000;
const NAMES = Array.from({ length: 12 }, (_, n) => `Event ${n}`);
const WINDOWS = ['1d', '7d', '7d', '30d', '30d', '90d', '365d'];
const LATE = 0.02;
const IDENTIFIES = 0.05;
/** One call in this many is the one before, once more. */
export const REPEATED_EVERY = 200;

export function fiftyDefinitions(dice: Dice): Definition[] {
  return Array.from({ length: 50 }, (_, nth) => definitionOf(dice, nth + 1));
}

function definitionOf(dice: Dice, number: number): Definition {
  const leaf = () => ({ event: dice.pick(NAMES), window: dice.pick(WINDOWS) });
  const revenue = { event: dice.pick(NAMES.slice(0, 3)), sum: 'properties.revenue', window: '30d', atLeast: 100 };
  const name = `Definition ${number}`;
  switch (number % 5) {
    case 0:
      return { kind: 'trait', name, compute: 'count', ...leaf() };
    case 1:
      return { kind: 'audience', name, when: { all: [{ ...leaf(), atLeast: 1 }, { not: { ...leaf(), atLeast: 1 } }] } };
    case 2:
      return { kind: 'audience', name, when: { ...leaf(), atLeast: dice.whole(1, 3) } };
    case 3:
      return { kind: 'audience', name, when: { any: [revenue, { trait: 'plan', op: 'equals', value: 'pro' }] } };
    default:
      return {
        kind: 'audience',
        name,
        when: {
          all: [
            { ...leaf(), lessThan: 3 },
            { ...leaf(), atLeast: 2 },
          ],
        },
      };
  }
}

export type ShopCall = Record<string, unknown> & { messageId: string };

/** A call as a client sends it; `number` makes it another one. */
export function shopCall(dice: Dice, number: number, { users, at }: { users: number; at: number }): ShopCall {
  const user = dice.whole(1, users);
  const happenedAt = at - (dice.isWithin(LATE) ? dice.whole(0, 10 * DAY_MS) : 500);
  const shared = {
    messageId: `0199a1b2-7c3d-7e4f-8a9b-${number.toString(16).padStart(12, '0')}`,
    userId: `user-${user}`,
    timestamp: new Date(happenedAt).toISOString(),
  };
  if (dice.isWithin(IDENTIFIES)) {
    const traits = { plan: dice.pick(['free', 'pro']), email: `user-${user}@example.com` };
    return { ...shared, type: 'identify', traits };
  }
  const properties = { revenue: dice.whole(100, 9_999) / 100, sku: `sku-${dice.whole(1, 500)}` };
  return { ...shared, type: 'track', event: dice.pick(NAMES), properties };
}

/** The same as the fold gets it. */
export function shopEvent(call: ShopCall, receivedAt: number): SourceEvent {
  const event: unknown = { context: {}, ...call, receivedAt: new Date(receivedAt).toISOString() };
  return { workspaceId: 'ws_1', sourceId: 'src_1', event: event as AcceptedEvent };
}
