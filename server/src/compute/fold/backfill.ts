/**
 * Gives new measures the past of a profile: from the tiles where these have it, else from the events that are still stored. Both leave
 * every other measure, the message ids and the held values alone; an evaluation has to follow.
 */
import type { StoredProfile } from '../profiles/profile-store.ts';
import { bucketAt, oldestLive } from '../state/buckets.ts';
import { isNumbers, type Measure, mergeMeasure, pruneMeasure } from '../state/measure.ts';
import { addToCells, type NumberCells, numberCells, pruneCells } from '../state/number-cells.ts';
import { emptyState, measureFor, type ProfileState, unpackRecord } from '../state/profile-state.ts';
import { rememberId, seenIds, type SeenIds } from '../state/seen-ids.ts';
import { findTile, hoursOf, type Tile, TILE_MS } from '../state/tiles.ts';
import { foldMeasure, groupsFor } from './fold-event.ts';
import { type IncomingEvent, incomingEvent, type SourceEvent } from './incoming-event.ts';
import type { MeasureNeed } from './measure-need.ts';
import { closeProfile, openProfile } from './open-profile.ts';
import type { Plan, PlannedMeasure } from './plan.ts';

const HOUR_MS = 3_600_000;

/**
 * Folds stored events of one profile from before its readers began to fold these slots: all events that came with an id, so that repeated
 * ones are counted once. The events of another id of the same profile may come later. Not twice for the same id and slots: the caller
 * notes in the same transaction that it is done.
 */
export function foldPast(
  stored: StoredProfile,
  events: readonly SourceEvent[],
  plan: Plan,
  slots: ReadonlySet<number>,
): StoredProfile {
  const profile = openProfile(stored);
  const { state } = profile;
  const seen = seenIds();
  for (const each of inOrder(events)) foldSlots({ state, seen }, each, { plan, slots, now: state.evaluatedAt });
  return closeProfile(profile);
}

/** The past of an id that is folded in several parts, before it is added to a profile. */
export type PastParts = { state: ProfileState; seen: SeenIds };

export function noPast(): PastParts {
  return { state: emptyState(), seen: seenIds() };
}

/** Adds a part. A repeat is recognised as readers do it: among the last ids. */
export function foldPart(
  past: PastParts,
  events: readonly SourceEvent[],
  plan: Plan,
  slots: ReadonlySet<number>,
): void {
  for (const each of inOrder(events)) foldSlots(past, each, { plan, slots, now: each.receivedAt });
}

/** The same as `foldPast` with the events of all parts. */
export function addParts(stored: StoredProfile, { state: past }: PastParts, plan: Plan): StoredProfile {
  const profile = openProfile(stored);
  for (const record of past.records) {
    const form = plan.measures.get(record.slot);
    if (form === undefined) continue;
    const measure = measureFor(profile.state, record.slot, form);
    mergeMeasure(measure, unpackRecord(record, form));
    pruneMeasure(measure, form, profile.state.evaluatedAt);
  }
  return closeProfile(profile);
}

function inOrder(events: readonly SourceEvent[]): IncomingEvent[] {
  return events.map(incomingEvent).toSorted((a, b) => a.receivedAt - b.receivedAt);
}

type SlotsToFold = { plan: Plan; slots: ReadonlySet<number>; now: number };

function foldSlots({ state, seen }: PastParts, each: IncomingEvent, { plan, slots, now }: SlotsToFold): void {
  if (rememberId(seen, each.hash, each.receivedAt).isKnown) return;
  for (const { sources, matches, measures } of groupsFor(each, plan)) {
    if (sources?.has(each.sourceId) === false || matches?.(each.event) === false) continue;
    for (const measure of measures) if (slots.has(measure.slot)) foldMeasure(state, each, measure, now);
  }
}

/** Whether one of these slots looks at the event. */
export function isCountedBy(event: SourceEvent, plan: Plan, slots: ReadonlySet<number>): boolean {
  const incoming = incomingEvent(event);
  return groupsFor(incoming, plan).some(
    ({ sources, matches, measures }) =>
      measures.some(({ slot }) => slots.has(slot)) &&
      sources?.has(incoming.sourceId) !== false &&
      matches?.(incoming.event) !== false,
  );
}

/**
 * Whether a measure can be set from tiles: counts of one event name by the hour, by the day (where they know the last 90 days), or for
 * good.
 */
export function isInTiles({ kind, event, type, where, between, resolutionMs }: MeasureNeed): boolean {
  const isNamed = event !== undefined || type === 'identify';
  return kind === 'count' && isNamed && where.length === 0 && between === undefined && resolutionMs !== 60_000;
}

/**
 * Sets the measures whose past is in the tiles, of a profile that has not met their definitions yet. Tiles have counted every event, also
 * those that the measure counts since it began, so it is overwritten and can be set any number of times; every part that opens a
 * profile does it first, so that two profiles that merge are both whole. True when it has to be written now, because the tiles forget
 * hours that the measure keeps.
 *
 * A profile with more names than tiles may lack the one that is asked for: the measure begins with its version there.
 */
export function fillFromTiles(state: ProfileState, plan: Plan): boolean {
  let isUrgent = false;
  for (const { measure, since, tiles: hashes } of plan.fills) {
    if (state.planVersion >= since) break;
    if (!setFromTiles(state, measure, hashes)) continue;
    isUrgent ||= measure.resolutionMs > 0 && measure.keepMs > TILE_MS;
  }
  return isUrgent;
}

/** Sets one measure from the tiles with these hashes. False: the profile has none of them. */
export function setFromTiles(state: ProfileState, measure: PlannedMeasure, hashes: readonly number[]): boolean {
  const tiles = hashes.map((hash) => findTile(state.tiles, hash)).filter((tile) => tile !== undefined);
  if (tiles.length > 0) overwrite(state, measure, tiles);
  return tiles.length > 0;
}

function overwrite(state: ProfileState, planned: PlannedMeasure, tiles: readonly Tile[]): void {
  const cells = numberCells();
  for (const tile of tiles) addTile(cells, tile, planned.resolutionMs);
  pruneCells(cells, oldestLive(state.evaluatedAt, planned.keepMs, planned.resolutionMs));
  const measure: Measure = measureFor(state, planned.slot, planned);
  if (isNumbers(measure)) measure.cells = cells;
}

function addTile(cells: NumberCells, tile: Tile, resolutionMs: number): void {
  if (resolutionMs === 0) return addToCells(cells, 'count', 0, [tile.total, 0]);
  const { buckets, counts } = hoursOf(tile);
  for (const [at, hour] of buckets.entries())
    addToCells(cells, 'count', bucketAt(hour * HOUR_MS, resolutionMs), [counts[at] ?? 0, 0]);
}
