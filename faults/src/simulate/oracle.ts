/** The calls that clients sent, the POSTs that receivers saw, and the disturbances that allow a delivery to come twice. The oracle shares no code with the product. */
import { createHash } from 'node:crypto';
import type { Arrival } from './receivers.ts';

export type SimDestination = {
  id: string;
  workspaceId: string;
  sourceId: string;
  url: string;
  order?: 'user';
  bodyFormat?: 'batch';
};
/** `before`: the calls of the same user in front of it in its request. */
export type Sent = { messageId: string; sourceId: string; at: number; before: readonly string[]; isAccepted: boolean };
/** Open ends are Infinity. */
export type Disturbance = { kind: string; from: number; to: number };
export type Violation = { kind: string; at: number; about: string };

export type Oracle = {
  sent: Map<string, Sent>;
  arrivals: Map<string, Arrival[]>;
  disturbances: Disturbance[];
  violations: Violation[];
  /** Whether something happened between two times that allows a delivery to come twice. */
  isDisturbed(from: number, to: number): boolean;
  blame(kind: string, about: string): void;
  arrived(arrival: Arrival): void;
  /** The deliveries that accepted events must have become. */
  expected(): { deliveryId: string; messageId: string; destination: SimDestination }[];
};

/** Acknowledgements take time: something that ended just before counts too. */
const BEFORE_MS = 1_000;

export function openOracle(now: () => number, destinations: readonly SimDestination[]): Oracle {
  const sent = new Map<string, Sent>();
  const arrivals = new Map<string, Arrival[]>();
  const violations: Violation[] = [];
  const blame = (kind: string, about: string) => {
    violations.push({ kind, at: Math.round(now()), about });
  };
  const disturbances: Disturbance[] = [];
  return {
    sent,
    arrivals,
    disturbances,
    isDisturbed: (from, to) => disturbances.some((each) => each.from <= to && each.to >= from - BEFORE_MS),
    violations,
    blame,
    arrived(arrival) {
      const known = arrivals.get(arrival.deliveryId) ?? [];
      known.push(arrival);
      arrivals.set(arrival.deliveryId, known);
      const from = sent.get(arrival.messageId);
      if (from === undefined) return blame('ghost', `${arrival.messageId} at ${arrival.url} was never sent`);
      const isOurs = destinations.some(({ url, sourceId }) => url === arrival.url && sourceId === from.sourceId);
      if (!isOurs) blame('stranger', `${arrival.messageId} of ${from.sourceId} came to ${arrival.url}`);
    },
    expected: () =>
      [...sent.values()]
        .filter(({ isAccepted }) => isAccepted)
        .flatMap(({ messageId, sourceId }) =>
          destinations
            .filter((each) => each.sourceId === sourceId)
            .map((destination) => ({ deliveryId: deliveryIdOf(destination, messageId), messageId, destination })),
        ),
  };
}

/** As docs/inside/delivery-states.md describes `webhook-id`: the same for the same event and destination. */
export function deliveryIdOf({ id, sourceId }: SimDestination, messageId: string): string {
  return `dlv_${createHash('sha256').update(`${id}\n${sourceId}\n${messageId}`).digest('base64url').slice(0, 27)}`;
}
