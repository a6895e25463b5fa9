import { type Delivery, UNTRIED_TIER } from '../../domain/delivery.ts';
import { groupsOf, openLaneAppender } from '../../stream/deliveries/append-to-lane.ts';
import type { Kept } from '../../stream/deliveries/shares.ts';
import type { ControlSide } from '../../stream/open-control-side.ts';

export type LaneFeeder = Disposable & {
  /** Resolves with `stored` when the lane has all of them and a ticket. After another answer the lane may have some. */
  feed(destinationId: string, deliveries: readonly Delivery[]): Promise<Kept>;
  /** How many groups have not been attempted yet. */
  untried(destinationId: string): Promise<number>;
};

export type FeederNeeds = { side: Pick<ControlSide, 'lanes' | 'tickets'>; now(): Date };

/** Appends deliveries to lanes for control, which only deliver drains. */
export function openLaneFeeder({ side: { lanes, tickets }, now }: FeederNeeds): LaneFeeder {
  const appender = openLaneAppender({ write: (place, { payload, id }) => lanes.append(place, payload, id), tickets });
  return {
    feed(destinationId, deliveries) {
      const groups = groupsOf(deliveries.map((delivery) => JSON.stringify(delivery)));
      const place = { destinationId, tier: UNTRIED_TIER };
      return appender.append(place, groups, () => ({ dueAt: now().getTime(), hurry: true }));
    },
    async untried(destinationId) {
      return (await lanes.count(destinationId)).get(UNTRIED_TIER) ?? 0;
    },
    [Symbol.dispose]: appender[Symbol.dispose],
  };
}
