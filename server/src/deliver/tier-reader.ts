import type { LaneGroup, Lanes } from '../stream/lanes.ts';
import { boundTimes, decodeDeliveries, type Delivery } from '../delivery/delivery.ts';
import type { LanePosition } from './lane-note.ts';

/** A delivery that was taken from a lane. It is either done with, or kept as if it had not been taken. */
export type Taken = { delivery: Delivery; done(): void; keep(): void };

/** One tier of a lane, read from its head on. Deliveries are taken in order, and may be done with in any. */
export type TierReader = {
  tier: number;
  /** The next delivery; undefined when there is none to be seen now. */
  head(): Promise<Delivery | undefined>;
  /** Takes the one that `head` showed. */
  take(): Taken | undefined;
  /** Forgets in the engine what is done with. */
  drop(): Promise<void>;
  /** Groups that were done with, as a whole. */
  done(): number;
  /** Where to go on another time. */
  position(): LanePosition;
};

export type TierReaderNeeds = {
  lanes: Pick<Lanes, 'read' | 'drop'>;
  destinationId: string;
  /** How many groups the tier had when it was last counted. */
  groups: number;
  seen(group: { tier: number; deliveries: number; bytes: number }): void;
  /** How long a delivery of this tier waits at most from when it was parked. */
  longestMs: number;
  uptimeMs(): number;
};

type Group = {
  sequence: number;
  deliveries: Delivery[];
  taken: number;
  /** Taken, and neither done with nor kept yet. */
  open: number;
  /** The first one that was kept: from there on the group stays. */
  keptFrom: number;
};

type State = {
  needs: TierReaderNeeds;
  tier: number;
  start: LanePosition;
  /** Not dropped yet, oldest first. The last ones may not have been begun. */
  groups: Group[];
  nextSequence: number;
  /** Done with, all of it, up to here. */
  doneUpTo: number;
  droppedUpTo: number;
  doneGroups: number;
  readGroups: number;
  /** Nothing was there lately, or we have all that was counted: asked again only after this. */
  askAgainAt: number;
};

/** Groups read ahead: enough to keep a fast receiver busy, little enough to be thrown away. */
const READ_AHEAD = 8;
/** Behind the end of a tier is looked once in a while, not for every delivery that is taken from the others. */
const ASK_AGAIN_MS = 1_000;

export function readTier(tier: number, start: LanePosition | undefined, needs: TierReaderNeeds): TierReader {
  const from = start ?? { sequence: 1, taken: 0 };
  const state: State = {
    needs,
    tier,
    start: from,
    groups: [],
    nextSequence: from.sequence,
    doneUpTo: 0,
    droppedUpTo: 0,
    doneGroups: 0,
    readGroups: 0,
    askAgainAt: 0,
  };
  return {
    tier,
    async head() {
      const isAtEnd = current(state) === undefined && !hasKept(state);
      if (isAtEnd && needs.uptimeMs() >= state.askAgainAt) await readOn(state);
      const group = current(state);
      return group?.deliveries[group.taken];
    },
    take: () => take(current(state)),
    async drop() {
      passDone(state);
      const { doneUpTo } = state;
      if (doneUpTo <= state.droppedUpTo) return;
      await needs.lanes.drop({ destinationId: needs.destinationId, tier }, doneUpTo);
      state.droppedUpTo = doneUpTo;
    },
    done: () => state.doneGroups,
    position() {
      passDone(state);
      const [first] = state.groups;
      // Nothing of it was seen yet, or a replica that lags did not show it: still the same place.
      if (first === undefined && state.nextSequence === from.sequence) return from;
      if (first === undefined) return { sequence: state.nextSequence, taken: 0 };
      return { sequence: first.sequence, taken: Math.min(first.taken, first.keptFrom) };
    },
  };
}

/** The group that the next delivery comes from. After one that was kept nothing more is taken. */
function current(state: State): Group | undefined {
  return hasKept(state) ? undefined : state.groups.find(({ taken, deliveries }) => taken < deliveries.length);
}

function hasKept({ groups }: State): boolean {
  return groups.some(({ keptFrom }) => keptFrom !== Infinity);
}

async function readOn(state: State): Promise<void> {
  const { needs, tier, start } = state;
  const place = { destinationId: needs.destinationId, tier };
  const counted = needs.groups - state.readGroups;
  const found = await needs.lanes.read(
    place,
    state.nextSequence,
    counted > 0 ? Math.min(READ_AHEAD, counted) : READ_AHEAD,
  );
  state.readGroups += found.length;
  if (found.length === 0 || found.length === counted) state.askAgainAt = needs.uptimeMs() + ASK_AGAIN_MS;
  if (found.length === 0) {
    // What is left in the tier then is what a former holder was done with and could not drop.
    state.doneUpTo = Math.max(state.doneUpTo, start.sequence - 1);
  }
  for (const group of found) {
    const deliveries = decode(group, tier, needs);
    const taken = group.sequence === start.sequence ? start.taken : 0;
    state.groups.push({ sequence: group.sequence, deliveries, taken, open: 0, keptFrom: Infinity });
    state.nextSequence = group.sequence + 1;
  }
}

function decode({ payload, parkedAt }: LaneGroup, tier: number, { seen, longestMs }: TierReaderNeeds): Delivery[] {
  const deliveries = decodeDeliveries(payload).map((delivery) => boundTimes(delivery, parkedAt, longestMs));
  seen({ tier, deliveries: deliveries.length, bytes: payload.length });
  return deliveries;
}

function take(group: Group | undefined): Taken | undefined {
  const delivery = group?.deliveries[group.taken];
  if (group === undefined || delivery === undefined) return undefined;
  const index = group.taken;
  group.taken += 1;
  group.open += 1;
  return {
    delivery,
    done() {
      group.open -= 1;
    },
    keep() {
      group.open -= 1;
      group.keptFrom = Math.min(group.keptFrom, index);
    },
  };
}

/** Only what is done with from the beginning on can be forgotten. */
function passDone(state: State): void {
  const { groups } = state;
  for (let [first] = groups; first !== undefined && isDone(first); [first] = groups) {
    state.doneUpTo = first.sequence;
    state.doneGroups += 1;
    groups.shift();
  }
}

function isDone({ taken, deliveries, open, keptFrom }: Group): boolean {
  return taken === deliveries.length && open === 0 && keptFrom === Infinity;
}
