/**
 * Appends deliveries to a lane, for deliver (parking) and for control (replays). A group of deliveries is in one of three states:
 * only in memory; stored in its lane but without a ticket, so that no process would come for it; stored with a ticket. The
 * appender moves it on in this order and resolves after the second step: its caller acknowledges or forgets the deliveries only
 * then. The other way round, a holder could come, find the lane empty and end the ticket.
 */
import { encodeDeliveries } from '../../domain/delivery.ts';
import { type LanePlace, newGroupId } from './lanes.ts';
import type { Kept } from './shares.ts';
import type { Ensured, Tickets, Wanted } from './tickets.ts';

/** Deliveries for one tier of one lane, as JSON, that are stored with one write. */
export type DeliveryGroup = { texts: string[]; bytes: number };

export const MAX_DELIVERIES = 100;
const MAX_BYTES = 65_536;
/** The holder of a ticket may or may not see a group that is stored meanwhile: a second look at the ticket makes sure. */
const LOOK_AGAIN_MS = 3_000;

export type LaneAppender = Disposable & {
  /**
   * Stores the groups, then ensures a ticket for the lane. Without `wanted` the caller holds the ticket and gives it back in time
   * for them. The appender asks for `wanted` at every look at the ticket. After `full` or `unavailable` some groups may be stored.
   */
  append(place: LanePlace, groups: readonly DeliveryGroup[], wanted?: () => Wanted): Promise<Kept>;
};

export type GroupToWrite = {
  /** The same for each try: one that got no answer may have been stored. */
  id: string;
  payload: Buffer;
  /** The caller holds the lane's ticket. */
  isByHolder: boolean;
};

export type AppenderNeeds = {
  /** Stores one group, once however often it is repeated. */
  write(place: LanePlace, group: GroupToWrite): Promise<Kept>;
  tickets: Pick<Tickets, 'ensure'>;
  /** Repeats a step until NATS answers. Left out, the caller gets `unavailable`. */
  retry?<T extends string>(step: () => Promise<T>): Promise<T>;
};

export function openLaneAppender({ write, tickets, retry = (step) => step() }: AppenderNeeds): LaneAppender {
  const looks = new Map<string, NodeJS.Timeout>();

  async function ensureTicket(destinationId: string, wanted: () => Wanted): Promise<Ensured> {
    const ensured = await tickets.ensure(destinationId, wanted());
    if (ensured === 'held' && !looks.has(destinationId)) {
      const lookAgain = () => {
        looks.delete(destinationId);
        // No caller waits for this look: an error in it must not end the process.
        ensureTicket(destinationId, wanted).catch(() => undefined);
      };
      looks.set(destinationId, setTimeout(lookAgain, LOOK_AGAIN_MS).unref());
    }
    return ensured;
  }

  return {
    async append(place, groups, wanted) {
      for (const { texts } of groups) {
        const group = { id: newGroupId(), payload: encodeDeliveries(texts), isByHolder: wanted === undefined };
        const answer = await retry(() => write(place, group));
        if (answer !== 'stored') return answer;
      }
      if (groups.length === 0 || wanted === undefined) return 'stored';
      const ensured = await retry(() => ensureTicket(place.destinationId, wanted));
      return ensured === 'unavailable' ? ensured : 'stored';
    },
    [Symbol.dispose]() {
      for (const look of looks.values()) clearTimeout(look);
    },
  };
}

export function hasRoom({ texts, bytes }: DeliveryGroup, moreBytes: number): boolean {
  return texts.length < MAX_DELIVERIES && bytes + moreBytes <= MAX_BYTES;
}

export function groupsOf(texts: readonly string[]): DeliveryGroup[] {
  const groups: DeliveryGroup[] = [];
  for (const text of texts) {
    const bytes = Buffer.byteLength(text);
    const last = groups.at(-1);
    if (last === undefined || !hasRoom(last, bytes)) {
      groups.push({ texts: [text], bytes });
    } else {
      last.texts.push(text);
      last.bytes += bytes;
    }
  }
  return groups;
}
