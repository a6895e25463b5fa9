import { encodeDeliveries, type Delivery } from '../../domain/delivery.ts';
import type { ControlSide } from '../../stream/open-control-side.ts';

export type LaneFeeder = Disposable & {
  /** Resolves when all are stored in the lane and somebody will come for them. Some may be stored after any other word. */
  feed(destinationId: string, deliveries: readonly Delivery[]): Promise<'stored' | 'full' | 'unavailable'>;
  /** How many groups have not been attempted yet. */
  untried(destinationId: string): Promise<number>;
};

export type FeederNeeds = { side: Pick<ControlSide, 'lanes' | 'tickets'>; now(): Date };

/** Not attempted yet: the tier of a lane that deliver parks such deliveries in. */
const UNTRIED_TIER = 0;
export const MAX_DELIVERIES = 100;
const MAX_BYTES = 65_536;
/** While somebody holds the ticket, they may give it back for a later time: a look afterwards makes sure. */
const LOOK_AGAIN_MS = 3_000;

/** Puts deliveries into lanes from outside of deliver: first the deliveries, then the ticket, as deliver does. */
export function openLaneFeeder({ side, now }: FeederNeeds): LaneFeeder {
  const looks = new Map<string, NodeJS.Timeout>();
  const ensure = async (destinationId: string) => {
    const ensured = await side.tickets.ensure(destinationId, { dueAt: now().getTime(), hurry: true });
    if (ensured === 'held' && !looks.has(destinationId)) looks.set(destinationId, lookAgain(destinationId));
    return ensured;
  };
  const lookAgain = (destinationId: string) =>
    setTimeout(() => {
      looks.delete(destinationId);
      ensure(destinationId).catch(() => undefined);
    }, LOOK_AGAIN_MS).unref();
  return {
    async feed(destinationId, deliveries) {
      const place = { destinationId, tier: UNTRIED_TIER };
      const groups = groupsOf(deliveries.map((delivery) => JSON.stringify(delivery)));
      for (const group of groups) {
        const answer = await side.lanes.append(place, encodeDeliveries(group));
        if (answer !== 'stored') return answer;
      }
      return groups.length > 0 && (await ensure(destinationId)) === 'unavailable' ? 'unavailable' : 'stored';
    },
    async untried(destinationId) {
      return (await side.lanes.count(destinationId)).get(UNTRIED_TIER) ?? 0;
    },
    [Symbol.dispose]() {
      for (const look of looks.values()) clearTimeout(look);
    },
  };
}

export function groupsOf(texts: readonly string[]): string[][] {
  const groups: string[][] = [];
  let bytes = Infinity;
  for (const text of texts) {
    const size = Buffer.byteLength(text);
    const last = groups.at(-1);
    if (last === undefined || last.length >= MAX_DELIVERIES || bytes + size > MAX_BYTES) {
      groups.push([text]);
      bytes = size;
    } else {
      last.push(text);
      bytes += size;
    }
  }
  return groups;
}
