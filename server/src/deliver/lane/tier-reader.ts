/**
 * Reads one tier of a lane from its head on. A group is read ahead, begun (some deliveries taken), done, and dropped from the
 * stream. A delivery is taken, then done or kept: the holder of the ticket tells which. After a kept one the reader takes nothing
 * more, and from it on the group stays in the lane.
 */
import type { LaneGroup, Lanes } from '../../stream/deliveries/lanes.ts';
import { boundTimes, chainOf, type Delivery, encodeDeliveries } from '../../domain/delivery.ts';
import { type LaneItem, readDeliveries } from '../../domain/read-deliveries.ts';
import { aheadIn, isPassed, type LanePosition, type StampedPosition, takenIn } from './lane-note.ts';

/** A delivery that was taken from a lane. It is either done, or kept as if it had not been taken. */
export type Taken = { delivery: Delivery; done(): void; keep(): void };

/** Deliveries are taken in order, and may be done in any order. */
export type TierReader = {
  tier: number;
  /** The next delivery; undefined when none can be seen now. Unreadable ones before it go to quarantine. */
  head(): Promise<Delivery | undefined>;
  /** The next group has a newer format: a newer process wrote it and must deliver it. */
  isNewer(): boolean;
  /** Takes the one that `head` showed. */
  take(): Taken | undefined;
  /** Takes those of its group that are of the same chain as the one that was taken last, ahead of their turn. */
  takeBehind(): Taken[];
  /** Drops the groups that are done from the stream. */
  drop(): Promise<void>;
  /** How many whole groups are done. */
  done(): number;
  /** Where to go on another time. */
  position(): LanePosition;
  /** The stamp that goes with the position; undefined when the last holder's version wrote none. */
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
  /** The chain of each item, once it was asked for. */
  chains?: (string | undefined)[];
  /** Of a newer format: nothing in it and behind it is taken. */
  isNewer: boolean;
  /** The version of its format. */
  format: string;
  taken: number;
  /** Places of chains: those that were taken ahead of their turn, the first one of each, and whether they are done. */
  ahead: Map<number, boolean>;
  /** Taken, and neither done with nor kept yet. */
  open: number;
  /** The first one that was kept: from there on the group stays. */
  keptFrom: number;
};

/** Groups read ahead: enough to keep a fast receiver busy, few enough to throw away. */
const READ_AHEAD = 8;
/** The reader looks behind the end of a tier now and then, not for each delivery that is taken from another tier. */
const ASK_AGAIN_MS = 1_000;

/** Where the reader starts when nothing of the tier was read before. */
const BEGINNING: StampedPosition = { sequence: 1, taken: 0, at: 0 };

// oxlint-disable-next-line max-lines-per-function -- a factory: its parts share its state
export function readTier(tier: number, start = BEGINNING, needs: TierReaderNeeds): TierReader {
  const { lanes, destinationId, uptimeMs } = needs;
  const place = { destinationId, tier };
  /** Not dropped yet, oldest first. The last ones may not have been begun. */
  const groups: Group[] = [];
  /** Whether the stream is long enough for the start; asked at most once. */
  let isStartPossible: boolean | undefined;
  let nextSequence = start.sequence;
  /** Reading begins with the leader's first group, before the noted position: groups there may be new. */
  let readFrom = 1;
  let doneUpTo = 0;
  /** When the last group that is done was parked. */
  let doneAt = start.at;
  let droppedUpTo = 0;
  let doneGroups = 0;
  let readGroups = 0;
  /** The tier was empty lately, or all counted groups are here: the reader asks NATS again only after this. */
  let askAgainAt = 0;
  /** Where the last delivery was taken from. */
  let latest: Group | undefined;
  let latestIndex = 0;

  async function head(): Promise<Delivery | undefined> {
    for (;;) {
      const isAtEnd = current() === undefined && !hasKept();
      if (isAtEnd && uptimeMs() >= askAgainAt) await readOn();
      const group = current();
      const item = group?.items[group.taken];
      if (group === undefined || item === undefined) return undefined;
      if (item.ok) return item.delivery;
      await setAside(group, item);
      pass(group);
    }
  }

  /** The group that the next delivery comes from. After one that was kept nothing more is taken. */
  function current(): Group | undefined {
    return hasKept() ? undefined : groups.find(({ taken, items, isNewer }) => isNewer || taken < items.length);
  }

  function hasKept(): boolean {
    return groups.some(({ keptFrom }) => keptFrom !== Infinity);
  }

  /** Reads until there is a delivery to take, or no more groups can be seen. */
  async function readOn(): Promise<void> {
    for (;;) {
      const counted = needs.groups - readGroups;
      const most = counted > 0 ? Math.min(READ_AHEAD, counted) : READ_AHEAD;
      const found = await lanes.read(place, readFrom, most);
      readGroups += found.length;
      if (found.length === 0 || found.length === counted) askAgainAt = uptimeMs() + ASK_AGAIN_MS;
      for (const group of found) {
        await add(group);
        if (groups.at(-1)?.isNewer === true) return;
      }
      if (found.length === 0 || current() !== undefined) return;
    }
  }

  /** A group that a former holder finished and could not drop is still there: it counts as done, and is dropped in its turn. */
  async function add(group: LaneGroup): Promise<void> {
    const { sequence, parkedAt } = group;
    const empty = { sequence, parkedAt, taken: 0, ahead: new Map(), open: 0, keptFrom: Infinity };
    readFrom = sequence + 1;
    if (await wasDone(group)) {
      groups.push({ ...empty, items: [], isNewer: false, format: '' });
      return;
    }
    const ahead = new Map(aheadIn(start, group).map((index) => [index, true]));
    groups.push({ ...empty, ...readGroup(group, tier, needs), taken: takenIn(start, group), ahead });
    nextSequence = sequence + 1;
  }

  /** A position without a stamp, of an older version, is believed if the stream has come that far at all. */
  async function wasDone(group: LaneGroup): Promise<boolean> {
    if (!isPassed(start, group)) return false;
    if (start.at !== undefined) return true;
    isStartPossible ??= start.sequence <= (await lanes.lastSequence(place)) + 1;
    return isStartPossible;
  }

  /** The lane waits until quarantine has stored the item. */
  async function setAside({ sequence, format }: Group, { item, why }: Extract<LaneItem, { ok: false }>): Promise<void> {
    const payload = item instanceof Uint8Array ? item : encodeDeliveries([JSON.stringify(item)]);
    const kept = await lanes.setAside(place, { sequence, payload, format, why });
    if (kept !== 'stored') throw new Error(`quarantine is ${kept}`);
  }

  /** Only groups that are done from the beginning on can be dropped. */
  function passDone(): void {
    for (let [first] = groups; first !== undefined && isDone(first); [first] = groups) {
      doneUpTo = first.sequence;
      doneAt = first.parkedAt;
      doneGroups += 1;
      groups.shift();
    }
  }

  return {
    tier,
    head,
    isNewer: () => current()?.isNewer === true,
    take() {
      latest = current();
      latestIndex = latest?.taken ?? 0;
      return take(latest);
    },
    takeBehind: () => (latest === undefined ? [] : takeBehind(latest, latestIndex)),
    async drop() {
      passDone();
      const upTo = doneUpTo;
      if (upTo <= droppedUpTo) return;
      await lanes.drop(place, upTo);
      droppedUpTo = upTo;
    },
    done: () => doneGroups,
    position() {
      passDone();
      const [first] = groups;
      if (first !== undefined) return { sequence: first.sequence, taken: doneIn(first), ...aheadOf(first) };
      // The reader saw nothing yet, or a replica that lags did not show it: still the same place.
      return { sequence: nextSequence, taken: nextSequence === start.sequence ? start.taken : 0 };
    },
    stamp() {
      passDone();
      const [first] = groups;
      return first !== undefined && doneIn(first) > 0 ? first.parkedAt : doneAt;
    },
  };
}

function doneIn({ taken, keptFrom }: Group): number {
  return Math.min(taken, keptFrom);
}

function aheadOf(group: Group): { ahead?: number[] } {
  const done = [...group.ahead].filter(([index, isDone]) => isDone && index >= doneIn(group)).map(([index]) => index);
  return done.length === 0 ? {} : { ahead: done };
}

/** An unreadable group becomes one unreadable item. */
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

function take(group: Group | undefined): Taken | undefined {
  const item = group?.items[group.taken];
  if (group === undefined || item?.ok !== true) return undefined;
  const index = group.taken;
  pass(group);
  return takenFrom(group, index, item.delivery);
}

/** Moves on to the next one that was not taken. */
function pass(group: Group): void {
  do group.taken += 1;
  while (group.ahead.has(group.taken));
}

function takeBehind(group: Group, index: number): Taken[] {
  const chain = chainAt(group, index);
  const behind: Taken[] = [];
  if (chain === undefined) return behind;
  for (let at = group.taken; at < group.items.length; at += 1) {
    const item = group.items[at];
    if (item?.ok !== true || group.ahead.has(at) || chainAt(group, at) !== chain) continue;
    group.ahead.set(at, false);
    behind.push(takenFrom(group, at, item.delivery));
  }
  // Were only those behind it noted, a delivery before them that is kept would repeat the first one after them.
  if (behind.length > 0) group.ahead.set(index, false);
  if (group.ahead.has(group.taken)) pass(group);
  return behind;
}

function chainAt(group: Group, index: number): string | undefined {
  group.chains ??= group.items.map((item) => (item.ok ? chainOf(item.delivery) : undefined));
  return group.chains[index];
}

function takenFrom(group: Group, index: number, delivery: Delivery): Taken {
  group.open += 1;
  return {
    delivery,
    done() {
      group.open -= 1;
      if (group.ahead.has(index)) group.ahead.set(index, true);
    },
    keep() {
      group.open -= 1;
      group.keptFrom = Math.min(group.keptFrom, index);
    },
  };
}

function isDone({ taken, items, isNewer, open, keptFrom }: Group): boolean {
  return !isNewer && taken >= items.length && open === 0 && keptFrom === Infinity;
}
