import type { LaneGroup, Lanes } from '../../stream/deliveries/lanes.ts';
import { boundTimes, type Delivery, encodeDeliveries } from '../../domain/delivery.ts';
import { type LaneItem, readDeliveries } from '../../domain/read-deliveries.ts';
import { isPassed, type LanePosition, type StampedPosition, takenIn } from './lane-note.ts';

/** A delivery that was taken from a lane. It is either done with, or kept as if it had not been taken. */
export type Taken = { delivery: Delivery; done(): void; keep(): void };

/** One tier of a lane, read from its head on. Deliveries are taken in order, and may be done with in any. */
export type TierReader = {
  tier: number;
  /** The next delivery; undefined when there is none to be seen now. What cannot be read goes to quarantine meanwhile. */
  head(): Promise<Delivery | undefined>;
  /** What comes next was written by a newer process, and is for a newer one. */
  isNewer(): boolean;
  /** Takes the one that `head` showed. */
  take(): Taken | undefined;
  /** Forgets in the engine what is done with. */
  drop(): Promise<void>;
  /** Groups that were done with, as a whole. */
  done(): number;
  /** Where to go on another time. */
  position(): LanePosition;
  /** The stamp that goes with the position; undefined when whoever wrote the last one knew none. */
  stamp(): number | undefined;
};

export type TierReaderNeeds = {
  lanes: Pick<Lanes, 'read' | 'drop' | 'lastSequence' | 'setAside' | 'left'>;
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
  parkedAt: number;
  items: LaneItem[];
  /** Of a newer format: nothing in it and behind it is taken. */
  isNewer: boolean;
  /** The version of its format. */
  format: string;
  taken: number;
  /** Taken, and neither done with nor kept yet. */
  open: number;
  /** The first one that was kept: from there on the group stays. */
  keptFrom: number;
};

type State = {
  needs: TierReaderNeeds;
  tier: number;
  start: StampedPosition;
  /** Whether the stream is long enough for the start; asked at most once. */
  isStartPossible: boolean | undefined;
  /** Not dropped yet, oldest first. The last ones may not have been begun. */
  groups: Group[];
  nextSequence: number;
  /** From the leader's first group on, whatever the last holder wrote: what lies before its position may be new. */
  readFrom: number;
  /** Of the last group that was done with. */
  doneAt: number | undefined;
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

export function readTier(tier: number, start: StampedPosition | undefined, needs: TierReaderNeeds): TierReader {
  const state = newState(tier, start ?? BEGINNING, needs);
  return {
    tier,
    head: () => headOf(state),
    isNewer: () => current(state)?.isNewer === true,
    take: () => take(current(state)),
    async drop() {
      passDone(state);
      const { doneUpTo } = state;
      if (doneUpTo <= state.droppedUpTo) return;
      await needs.lanes.drop({ destinationId: needs.destinationId, tier }, doneUpTo);
      state.droppedUpTo = doneUpTo;
    },
    done: () => state.doneGroups,
    position: () => positionOf(state),
    stamp() {
      passDone(state);
      const [first] = state.groups;
      return first !== undefined && doneIn(first) > 0 ? first.parkedAt : state.doneAt;
    },
  };
}

function newState(tier: number, start: StampedPosition, needs: TierReaderNeeds): State {
  return {
    needs,
    tier,
    start,
    isStartPossible: undefined,
    groups: [],
    nextSequence: start.sequence,
    readFrom: 1,
    doneAt: start.at,
    doneUpTo: 0,
    droppedUpTo: 0,
    doneGroups: 0,
    readGroups: 0,
    askAgainAt: 0,
  };
}

function positionOf(state: State): LanePosition {
  passDone(state);
  const { start, groups, nextSequence } = state;
  const [first] = groups;
  if (first !== undefined) return { sequence: first.sequence, taken: doneIn(first) };
  // Nothing of it was seen yet, or a replica that lags did not show it: still the same place.
  const isUnmoved = nextSequence === start.sequence;
  return { sequence: nextSequence, taken: isUnmoved ? start.taken : 0 };
}

/** Nothing of the tier was seen before. */
const BEGINNING: StampedPosition = { sequence: 1, taken: 0, at: 0 };

function doneIn({ taken, keptFrom }: Group): number {
  return Math.min(taken, keptFrom);
}

async function headOf(state: State): Promise<Delivery | undefined> {
  for (;;) {
    const isAtEnd = current(state) === undefined && !hasKept(state);
    if (isAtEnd && state.needs.uptimeMs() >= state.askAgainAt) await readOn(state);
    const group = current(state);
    const item = group?.items[group.taken];
    if (group === undefined || item === undefined) return undefined;
    if (item.ok) return item.delivery;
    await setAside(state, group, item);
    group.taken += 1;
  }
}

/** The group that the next delivery comes from. After one that was kept nothing more is taken. */
function current(state: State): Group | undefined {
  return hasKept(state) ? undefined : state.groups.find(({ taken, items, isNewer }) => isNewer || taken < items.length);
}

function hasKept({ groups }: State): boolean {
  return groups.some(({ keptFrom }) => keptFrom !== Infinity);
}

/** Until there is one to be taken, or no more can be seen. */
async function readOn(state: State): Promise<void> {
  const { needs, tier } = state;
  const place = { destinationId: needs.destinationId, tier };
  for (;;) {
    const counted = needs.groups - state.readGroups;
    const most = counted > 0 ? Math.min(READ_AHEAD, counted) : READ_AHEAD;
    const found = await needs.lanes.read(place, state.readFrom, most);
    state.readGroups += found.length;
    if (found.length === 0 || found.length === counted) state.askAgainAt = needs.uptimeMs() + ASK_AGAIN_MS;
    for (const group of found) {
      await keepInMind(state, group);
      if (state.groups.at(-1)?.isNewer === true) return;
    }
    if (found.length === 0 || current(state) !== undefined) return;
  }
}

/** What a former holder was done with and could not drop is there still: it stands as done, and is dropped in its turn. */
async function keepInMind(state: State, group: LaneGroup): Promise<void> {
  const { needs, tier, start, groups } = state;
  const { sequence, parkedAt } = group;
  const empty = { sequence, parkedAt, taken: 0, open: 0, keptFrom: Infinity };
  state.readFrom = sequence + 1;
  if (await wasDone(state, group)) {
    groups.push({ ...empty, items: [], isNewer: false, format: '' });
    return;
  }
  groups.push({ ...empty, ...readGroup(group, tier, needs), taken: takenIn(start, group) });
  state.nextSequence = sequence + 1;
}

/** A position without a stamp, of an older version, is believed if the stream has come that far at all. */
async function wasDone(state: State, group: LaneGroup): Promise<boolean> {
  const { start, needs } = state;
  if (!isPassed(start, group)) return false;
  if (start.at !== undefined) return true;
  state.isStartPossible ??=
    start.sequence <= (await needs.lanes.lastSequence({ destinationId: needs.destinationId, tier: state.tier })) + 1;
  return state.isStartPossible;
}

/** A group that cannot be read is one item that cannot be. */
function readGroup(
  { payload, parkedAt, format }: LaneGroup,
  tier: number,
  { seen, lanes, longestMs }: TierReaderNeeds,
): Pick<Group, 'items' | 'isNewer' | 'format'> {
  const read = readDeliveries(payload, format);
  if (read.ok) {
    seen({ tier, deliveries: read.value.length, bytes: payload.length });
    const bound = (item: LaneItem): LaneItem =>
      item.ok ? { ok: true, delivery: boundTimes(item.delivery, parkedAt, longestMs) } : item;
    return { items: read.value.map(bound), isNewer: false, format };
  }
  if (read.problem === 'newer') {
    lanes.left(read.why);
    return { items: [], isNewer: true, format };
  }
  return { items: [{ ok: false, item: payload, why: read.why }], isNewer: false, format };
}

/** Kept there before it is passed: without the engine's word the lane waits. */
async function setAside(
  { needs, tier }: State,
  { sequence, format }: Group,
  { item, why }: Extract<LaneItem, { ok: false }>,
): Promise<void> {
  const payload = item instanceof Uint8Array ? item : encodeDeliveries([JSON.stringify(item)]);
  const place = { destinationId: needs.destinationId, tier };
  const kept = await needs.lanes.setAside(place, { sequence, payload, format, why });
  if (kept !== 'stored') throw new Error(`quarantine is ${kept}`);
}

function take(group: Group | undefined): Taken | undefined {
  const item = group?.items[group.taken];
  if (group === undefined || item?.ok !== true) return undefined;
  const { delivery } = item;
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
    state.doneAt = first.parkedAt;
    state.doneGroups += 1;
    groups.shift();
  }
}

function isDone({ taken, items, isNewer, open, keptFrom }: Group): boolean {
  return !isNewer && taken >= items.length && open === 0 && keptFrom === Infinity;
}
