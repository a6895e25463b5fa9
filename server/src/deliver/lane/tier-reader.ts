/**
 * Reads one tier of a lane from its head on. A group is read ahead, begun (some deliveries taken), done, and dropped from the
 * stream. A delivery is taken, then done or kept: the holder of the ticket tells which. After a kept one the reader takes nothing
 * more, and from it on the group stays in the lane.
 */
import type { LaneGroup, Lanes } from '../../stream/deliveries/lanes.ts';
import { boundTimes, chainOf, type Delivery, encodeDeliveries } from '../../domain/delivery.ts';
import { type LaneItem, readDeliveries } from '../../domain/read-deliveries.ts';
import {
  begunIn,
  type GroupPosition,
  isPassed,
  type LanePosition,
  progressIn,
  type StampedPosition,
} from './lane-note.ts';
import {
  ALONE,
  type TakenChain,
  hasChain,
  isBegun,
  isDone,
  openGroup,
  pass,
  positionOf,
  type Taken,
  take,
  takeBehind,
  takeChain,
  type TierGroup,
} from './tier-group.ts';

/** Deliveries are taken in order, and may be done in any order. */
export type TierReader = {
  tier: number;
  /** The next delivery; undefined when none can be seen now. Unreadable ones before it go to quarantine. */
  head(): Promise<Delivery | undefined>;
  /** The next group has a newer format: a newer process wrote it and must deliver it. */
  isNewer(): boolean;
  /** Takes the one that `head` showed. */
  take(): Taken | undefined;
  /**
   * Takes those of the same chain as the one that was taken last, ahead of their turn: of its group, and of the groups behind it if the
   * chain is in several.
   */
  takeBehind(): Promise<TakenChain>;
  /** Drops the groups that are done from the stream. At the end of a look, also each one behind a group that stays. */
  drop(isLast?: boolean): Promise<void>;
  /** How many whole groups are done. */
  done(): number;
  /** Where to go on another time. */
  position(): LanePosition;
  /** The stamp that goes with the position; undefined when the last holder's version wrote none. */
  stamp(): number | undefined;
};

export type TierReaderNeeds = {
  lanes: Pick<Lanes, 'read' | 'drop' | 'forget' | 'lastSequence' | 'setAside' | 'left'>;
  destinationId: string;
  /** How many groups the tier had when it was last counted. */
  groups: number;
  seen(group: { tier: number; deliveries: number; bytes: number }): void;
  /** How long a delivery of this tier waits at most from when it was parked. */
  longestMs: number;
  uptimeMs(): number;
};

/** Groups read ahead: enough to keep a fast receiver busy, few enough to throw away. */
const READ_AHEAD = 8;
/** The reader looks behind the end of a tier now and then, not for each delivery that is taken from another tier. */
const ASK_AGAIN_MS = 1_000;
/** A group that stays at the head for longer does not keep those behind it from being dropped, one by one. */
const SLOW_HEAD_MS = 2_000;
/** How far behind a group the next part of a chain is looked for. Other processes may have stored groups in between. */
const MOST_BETWEEN = 64;
/** A chain that is longer is taken in part: as many bytes are in memory for each that is under way. */
const MAX_TAKEN_BYTES = 2_000_000;
/** Groups behind the first that a position names. If more are done in part, the others are sent again. */
const MOST_BEGUN = 100;

/** Where the reader starts when nothing of the tier was read before. */
const BEGINNING: StampedPosition = { sequence: 1, taken: 0, at: 0 };

// oxlint-disable-next-line max-lines-per-function -- a factory: its parts share its state
export function readTier(tier: number, start = BEGINNING, needs: TierReaderNeeds): TierReader {
  const { lanes, destinationId, uptimeMs } = needs;
  const place = { destinationId, tier };
  /** Not dropped yet, oldest first. The last ones may not have been begun. */
  const groups: TierGroup[] = [];
  /** Whether the stream is long enough for the start; asked at most once. */
  let isStartPossible: boolean | undefined;
  let nextSequence = start.sequence;
  /** Reading begins with the leader's first group, before the noted position: groups there may be new. */
  let readFrom = 1;
  /** A group was stored after the start was noted, before groups that the start names: the stream was recreated, and has others. */
  let isStartOver = false;
  let doneUpTo = 0;
  /** When the last group that is done was parked. */
  let doneAt = start.at;
  let droppedUpTo = 0;
  let doneGroups = 0;
  let readGroups = 0;
  /** The tier was empty lately, or all counted groups are here: the reader asks NATS again only after this. */
  let askAgainAt = 0;
  /** Where the last delivery was taken from. */
  let latest: TierGroup | undefined;
  let latestIndex = 0;
  /** The first group at the last drop, and since when it has been the first. */
  let front = { sequence: 0, since: 0 };

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
  function current(): TierGroup | undefined {
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
    const { sequence } = group;
    readFrom = sequence + 1;
    isStartOver ||= group.parkedAt > (start.at ?? Infinity);
    if (await wasDone(group)) {
      groups.push(openGroup(group, { items: [], isNewer: false, format: '' }));
      return;
    }
    groups.push(openGroup(group, readGroup(group, tier, needs), progressIn(start, group)));
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
  async function setAside(
    { sequence, format }: TierGroup,
    { item, why }: Extract<LaneItem, { ok: false }>,
  ): Promise<void> {
    const payload = item instanceof Uint8Array ? item : encodeDeliveries([JSON.stringify(item)]);
    const kept = await lanes.setAside(place, { sequence, payload, format, why });
    if (kept !== 'stored') throw new Error(`quarantine is ${kept}`);
  }

  async function takeAllBehind(): Promise<TakenChain> {
    const first = latest?.items[latestIndex];
    if (latest === undefined || first?.ok !== true) return ALONE;
    const { behind, isInTurn } = takeBehind(latest, latestIndex);
    try {
      return { behind, isInTurn, ...(await takeRest(latest, first.delivery, behind)) };
    } catch (error) {
      for (const taken of behind) taken.keep();
      throw error;
    }
  }

  /** Adds what is in later groups to those behind the first one, if it is said to be there. */
  async function takeRest(from: TierGroup, first: Delivery, behind: Taken[]) {
    const chain = chainOf(first);
    let group = from;
    let { bytes } = from;
    if (chain === undefined) return { bytes };
    while ((behind.at(-1)?.delivery ?? first).hasMore === true && bytes < MAX_TAKEN_BYTES) {
      const next = await groupAfter(group, chain);
      if (next === undefined) return { bytes, lacksMoreSince: group.parkedAt };
      behind.push(...takeChain(next, chain));
      group = next;
      bytes += next.bytes;
    }
    return { bytes };
  }

  /** The next group that has some of the chain; undefined when none can be seen now. */
  async function groupAfter(group: TierGroup, chain: string): Promise<TierGroup | undefined> {
    for (let at = groups.indexOf(group) + 1, most = at + MOST_BETWEEN; at < most; at += 1) {
      if (at >= groups.length && uptimeMs() >= askAgainAt) await readOn();
      const next = groups[at];
      if (next === undefined || next.isNewer) return undefined;
      if (hasChain(next, chain)) return next;
    }
    return undefined;
  }

  /** Only groups that are done from the beginning on can be dropped. */
  function passDone(): void {
    for (let [first] = groups; first !== undefined && isDone(first); [first] = groups) {
      doneUpTo = first.sequence;
      forget(first);
    }
  }

  function forget(group: TierGroup): void {
    doneAt = Math.max(doneAt ?? 0, group.parkedAt);
    doneGroups += 1;
    groups.splice(groups.indexOf(group), 1);
  }

  /** Groups done in part that the start names and that this reader has not come to. */
  function unread(): GroupPosition[] {
    return isStartOver ? [] : begunIn(start).filter(({ sequence }) => sequence >= readFrom);
  }

  /** The place when no group is left: a paused lane was not read, or a replica that lags showed nothing. */
  function emptyPosition(): GroupPosition {
    if (nextSequence !== start.sequence) return { sequence: nextSequence, taken: 0 };
    const { sequence, taken, ahead } = start;
    return { sequence, taken, ...(ahead === undefined ? {} : { ahead }) };
  }

  /** Whether a group has been the first one for long. */
  function isHeadSlow(): boolean {
    const sequence = groups[0]?.sequence ?? 0;
    if (sequence !== front.sequence) front = { sequence, since: uptimeMs() };
    return uptimeMs() - front.since >= SLOW_HEAD_MS;
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
    takeBehind: takeAllBehind,
    async drop(isLast = false) {
      passDone();
      const upTo = doneUpTo;
      if (upTo > droppedUpTo) await lanes.drop(place, upTo);
      droppedUpTo = upTo;
      if (!isHeadSlow() && !isLast) return;
      for (const group of groups.filter(isDone)) {
        await lanes.forget(place, group.sequence);
        forget(group);
      }
    },
    done: () => doneGroups,
    position() {
      passDone();
      const [first, ...behind] = groups;
      const begun = [...behind.filter(isBegun).map(positionOf), ...unread()].slice(0, MOST_BEGUN);
      const position = first === undefined ? emptyPosition() : positionOf(first);
      return { ...position, ...(begun.length === 0 ? {} : { begun }) };
    },
    stamp() {
      passDone();
      // The stamp of the start is that of the last group which it names.
      return unread().length > 0 ? start.at : (groups.findLast(isBegun)?.parkedAt ?? doneAt);
    },
  };
}

/** An unreadable group becomes one unreadable item. */
function readGroup(
  { payload, parkedAt, format }: LaneGroup,
  tier: number,
  { seen, lanes, longestMs }: TierReaderNeeds,
): Pick<TierGroup, 'items' | 'isNewer' | 'format'> {
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
