import type { DestinationOwner } from '../../domain/read-config.ts';
import { fieldProblem, isFields, readJson } from '../../domain/format.ts';
import { tierNumber, tierPlace } from '../../stream/layout/lane-places.ts';

/** The holder of a lane's ticket leaves this note for the next holder. It travels with the ticket. */
export type LaneNote = {
  /** Probes in a row that failed. */
  failedProbes: number;
  /** Where to go on in each tier: everything before is done with, also if a replica still shows it. */
  next: Record<string, LanePosition>;
  /** The same places with their stamps. Versions without stamps leave these unchanged and update only the places. */
  stamped?: Record<string, StampedPosition>;
  /** The average size of a tier's groups lately. */
  sizes: Record<string, GroupSize>;
  /** How fast the lane drained lately. */
  perSecond: number;
  /** When the lane was last scrubbed of erased users. */
  scrubbedAt?: number;
  /** The number of the stream that plain tiers are in; left out by versions that knew only one. */
  home?: number;
  /** The owner of the destination: the record needs it when the destination was deleted. */
  owner?: DestinationOwner;
  /** Since when the destination has been missing from the configuration. */
  missingSince?: number;
};

/** In the group with this sequence, `taken` deliveries are done, and behind them those at the places `ahead`. */
export type GroupPosition = { sequence: number; taken: number; ahead?: number[] };
/** `begun`: the groups behind it that are done in part. A chain that takes long holds up none of them. */
export type LanePosition = GroupPosition & { begun?: GroupPosition[] };
/** `at`: when NATS stored the last group that was done or begun. A stream that was recreated gives the same sequences again. */
export type StampedPosition = LanePosition & { at?: number | undefined };
export type GroupSize = { deliveries: number; bytes: number };

/** How much the latest group counts. */
const SMOOTHING = 0.2;

/** Empty for a new lane. A note that cannot be read is as good as none: the lane is looked at from its beginning. */
export function readLaneNote(text: string): LaneNote {
  const empty = { failedProbes: 0, next: {}, sizes: {}, perSecond: 0 };
  const json = text === '' ? undefined : readJson(text);
  if (json?.ok !== true || !isFields(json.value)) return empty;
  const note = { ...empty, ...json.value };
  const why = fieldProblem(note, NOTE);
  const { next, sizes, stamped = {} } = note as LaneNote;
  const isNote =
    why === undefined && areFields(next, POSITION) && areFields(stamped, POSITION) && areFields(sizes, SIZE);
  return isNote ? note : empty;
}

const NOTE = {
  failedProbes: 'number',
  next: 'object',
  sizes: 'object',
  perSecond: 'number',
  scrubbedAt: 'number?',
  missingSince: 'number?',
  owner: 'object?',
  stamped: 'object?',
  home: 'number?',
} as const;
const POSITION = { sequence: 'number', taken: 'number' } as const;
const SIZE = { deliveries: 'number', bytes: 'number' } as const;

function areFields(value: object, kinds: Parameters<typeof fieldProblem>[1]): boolean {
  return Object.values(value).every((each) => isFields(each) && fieldProblem(each, kinds) === undefined);
}

/** Where the last holder of the lane stopped in a tier. A stamp counts only for the place that it was written with. */
export function positionIn({ next, stamped }: LaneNote, tier: number): StampedPosition | undefined {
  const place = next[tier];
  const known = stamped?.[tier];
  return known?.sequence === place?.sequence && known?.taken === place?.taken ? known : place;
}

export function notePosition(note: LaneNote, tier: number, { at, ...place }: StampedPosition): void {
  note.next[tier] = place;
  note.stamped = { ...note.stamped, [tier]: { ...place, at } };
}

type Stored = { sequence: number; parkedAt: number };

/** Whether the holder that wrote the position was done with this group: only with groups that it can have seen. */
export function isPassed({ sequence, at = Infinity }: StampedPosition, group: Stored): boolean {
  return group.sequence < sequence && group.parkedAt <= at;
}

/** The groups behind the first that are done in part. A note may hold anything. */
export function begunIn({ begun }: StampedPosition): readonly GroupPosition[] {
  return Array.isArray(begun)
    ? begun.filter((each: unknown) => isFields(each) && fieldProblem(each, POSITION) === undefined)
    : [];
}

/**
 * How many deliveries of a group are done with, and the places of those behind them that are. A version that does not know of the
 * latter sends them again.
 */
export function progressIn(start: StampedPosition, group: Stored): { taken: number; ahead: readonly number[] } {
  const known = group.parkedAt > (start.at ?? Infinity) ? [] : [start, ...begunIn(start)];
  const place = known.find(({ sequence }) => sequence === group.sequence);
  return { taken: place?.taken ?? 0, ahead: Array.isArray(place?.ahead) ? place.ahead : [] };
}

/**
 * Tiers are numbered from the lane's home (lane-places.ts). A note of a process with another number of lane streams is read by its
 * own home; where that is unknown and the lane may be in two places, positions are given up: the part of a group that was done
 * is sent again then, nothing is passed over.
 */
export function moveHome(note: LaneNote, home: number, isOnlyHome: boolean): void {
  const before = note.home ?? (isOnlyHome ? home : undefined);
  note.home = home;
  if (before === home) return;
  if (before === undefined) {
    note.next = {};
    note.stamped = {};
    return;
  }
  note.next = renumber(note.next, before, home);
  note.stamped = renumber(note.stamped ?? {}, before, home);
  note.sizes = renumber(note.sizes, before, home);
}

function renumber<T>(byTier: Record<string, T>, before: number, home: number): Record<string, T> {
  const entries = Object.entries(byTier).map(([number, value]) => {
    return [tierNumber(tierPlace(Number(number), before), home), value] as const;
  });
  return Object.fromEntries(entries);
}

/** A former home that is empty may be deleted and recreated with other sequences: its positions are forgotten. */
export function forgetEmptyPlaces(note: LaneNote, counts: ReadonlyMap<number, number>): void {
  const isHere = ([number]: [string, unknown]) =>
    tierPlace(Number(number), -1).stream === -1 || counts.has(Number(number));
  note.next = Object.fromEntries(Object.entries(note.next).filter(isHere));
}

export function noteGroup(note: LaneNote, { tier, ...size }: GroupSize & { tier: number }): void {
  const before = note.sizes[tier] ?? size;
  const deliveries = before.deliveries + (size.deliveries - before.deliveries) * SMOOTHING;
  const bytes = before.bytes + (size.bytes - before.bytes) * SMOOTHING;
  note.sizes[tier] = { deliveries, bytes };
}

/** The size of the whole backlog, from the number of groups in each tier. */
export function sizeOf(note: LaneNote, counts: ReadonlyMap<number, number>): GroupSize {
  let deliveries = 0;
  let bytes = 0;
  for (const [tier, groups] of counts) {
    const size = note.sizes[tier];
    deliveries += groups * (size?.deliveries ?? 1);
    bytes += groups * (size?.bytes ?? 1_000);
  }
  return { deliveries: Math.round(deliveries), bytes: Math.round(bytes) };
}

/** Four seconds tell all about the speed, fewer only a part. Long enough for a lull, short enough to forget a slow beginning. */
const TELLING_MS = 4_000;

export function notePace(note: LaneNote, left: number, tookMs: number): void {
  if (left === 0 || tookMs === 0) return;
  const perSecond = (left * 1_000) / tookMs;
  const weight = note.perSecond === 0 ? 1 : Math.min(1, tookMs / TELLING_MS);
  note.perSecond += (perSecond - note.perSecond) * weight;
}
