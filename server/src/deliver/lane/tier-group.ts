/**
 * A group of deliveries as the holder of a lane works on it. Its deliveries are taken, in their order or ahead of their turn, and then
 * done or kept. The group is done when all of them are; from the first one that was kept on it stays in the lane, and a position
 * names those behind it that are done.
 */
import { chainOf, type Delivery } from '../../domain/delivery.ts';
import type { LaneItem } from '../../domain/read-deliveries.ts';
import type { LaneGroup } from '../../stream/deliveries/lanes.ts';
import type { GroupPosition, progressIn } from './lane-note.ts';

/** A delivery that was taken from a lane. It is either done, or kept as if it had not been taken. */
export type Taken = { delivery: Delivery; done(): void; keep(): void };

export type TakenChain = {
  behind: Taken[];
  /** Others of the chain were before it, and are done. */
  isInTurn: boolean;
  /** Of the groups that it is in. */
  bytes: number;
  /** More of the chain cannot be seen yet, which should follow a group that was stored then. */
  lacksMoreSince?: number;
};

export const ALONE: TakenChain = { behind: [], isInTurn: false, bytes: 0 };

export type TierGroup = {
  sequence: number;
  parkedAt: number;
  bytes: number;
  items: LaneItem[];
  /** The chain of each item, once it was asked for. */
  chains?: (string | undefined)[];
  /** Of a newer format: nothing in it and behind it is taken. */
  isNewer: boolean;
  /** The version of its format. */
  format: string;
  taken: number;
  /** Places that were taken ahead of their turn, the first one of each chain, and those that are done; and whether they are done. */
  ahead: Map<number, boolean>;
  /** Taken, and neither done with nor kept yet. */
  open: number;
  /** The first one that was kept: from there on the group stays. */
  keptFrom: number;
};

export function openGroup(
  { sequence, parkedAt, payload }: LaneGroup,
  read: Pick<TierGroup, 'items' | 'isNewer' | 'format'>,
  progress: ReturnType<typeof progressIn> = { taken: 0, ahead: [] },
): TierGroup {
  const ahead = new Map(progress.ahead.map((index) => [index, true]));
  return {
    sequence,
    parkedAt,
    bytes: payload.length,
    ...read,
    taken: progress.taken,
    ahead,
    open: 0,
    keptFrom: Infinity,
  };
}

export function take(group: TierGroup | undefined): Taken | undefined {
  const item = group?.items[group.taken];
  if (group === undefined || item?.ok !== true) return undefined;
  const index = group.taken;
  pass(group);
  return takenFrom(group, index, item.delivery);
}

/** Moves on to the next one that was not taken. */
export function pass(group: TierGroup): void {
  do group.taken += 1;
  while (group.ahead.has(group.taken));
}

/** Takes those that are of the same chain as the delivery at this place, which was taken. */
export function takeBehind(group: TierGroup, index: number): Pick<TakenChain, 'behind' | 'isInTurn'> {
  const chain = chainAt(group, index);
  if (chain === undefined) return { behind: [], isInTurn: false };
  const behind = takeChain(group, chain);
  // Were only those behind it noted, a delivery before them that is kept would repeat the first one after them.
  if (behind.length > 0) group.ahead.set(index, false);
  const first = group.items[index];
  const isMore = first?.ok === true && first.delivery.isMore === true;
  return { behind, isInTurn: isMore || group.chains?.indexOf(chain) !== index };
}

/** Takes all of a chain that was not taken, ahead of its turn. */
export function takeChain(group: TierGroup, chain: string): Taken[] {
  const found: Taken[] = [];
  for (let at = group.taken; at < group.items.length; at += 1) {
    const item = group.items[at];
    if (item?.ok !== true || group.ahead.has(at) || chainAt(group, at) !== chain) continue;
    group.ahead.set(at, false);
    found.push(takenFrom(group, at, item.delivery));
  }
  if (group.ahead.has(group.taken)) pass(group);
  return found;
}

/** Whether it has some of the chain that were not taken. */
export function hasChain(group: TierGroup, chain: string): boolean {
  return group.items.some((_, at) => at >= group.taken && !group.ahead.has(at) && chainAt(group, at) === chain);
}

function chainAt(group: TierGroup, index: number): string | undefined {
  group.chains ??= group.items.map((item) => (item.ok ? chainOf(item.delivery) : undefined));
  return group.chains[index];
}

function takenFrom(group: TierGroup, index: number, delivery: Delivery): Taken {
  group.open += 1;
  return {
    delivery,
    done() {
      group.open -= 1;
      group.ahead.set(index, true);
    },
    keep() {
      group.open -= 1;
      group.keptFrom = Math.min(group.keptFrom, index);
    },
  };
}

export function isDone({ taken, items, isNewer, open, keptFrom }: TierGroup): boolean {
  return !isNewer && taken >= items.length && open === 0 && keptFrom === Infinity;
}

/** Whether some of its deliveries are done. */
export function isBegun(group: TierGroup): boolean {
  const { taken, ahead = [] } = positionOf(group);
  return taken > 0 || ahead.length > 0;
}

export function positionOf(group: TierGroup): GroupPosition {
  const { sequence, ahead } = group;
  const taken = Math.min(group.taken, group.keptFrom);
  const done = [...ahead].filter(([index, isDone]) => isDone && index >= taken).map(([index]) => index);
  return { sequence, taken, ...(done.length === 0 ? {} : { ahead: done.toSorted((one, other) => one - other) }) };
}
