/**
 * Gives new measures the past of a profile: from the tiles where these have it whole, else from the events that are still stored. Both
 * leave every other measure, the message ids and the held values alone; an evaluation has to follow.
 */
import type { StoredProfile } from '../profiles/profile-store.ts';
import { bucketAt, oldestLive } from '../state/buckets.ts';
import { isNumbers, type Measure } from '../state/measure.ts';
import { addToCells, type NumberCells, numberCells, pruneCells } from '../state/number-cells.ts';
import { measureFor, type ProfileState } from '../state/profile-state.ts';
import { rememberId, seenIds } from '../state/seen-ids.ts';
import { findTile, hoursOf, type Tile } from '../state/tiles.ts';
import { foldMeasure, groupsFor, tileName } from './fold-event.ts';
import { hash48, incomingEvent, type SourceEvent } from './incoming-event.ts';
import type { MeasureNeed } from './measure-need.ts';
import { closeProfile, openProfile } from './open-profile.ts';
import type { Plan, PlannedMeasure } from './plan.ts';

const HOUR_MS = 3_600_000;

/**
 * Folds all stored events of one profile from before its readers began to fold these slots. Repeated ones are counted once. Not twice
 * for the same profile and slots: the caller notes in the same transaction that it is done.
 */
export function foldPast(
  stored: StoredProfile,
  events: readonly SourceEvent[],
  plan: Plan,
  slots: ReadonlySet<number>,
): StoredProfile {
  const profile = openProfile(stored);
  const seen = seenIds();
  const incoming = events.map(incomingEvent).toSorted((a, b) => a.receivedAt - b.receivedAt);
  for (const each of incoming) {
    if (rememberId(seen, each.hash, each.receivedAt).isKnown) continue;
    for (const { sources, matches, measures } of groupsFor(each, plan)) {
      if (sources?.has(each.sourceId) === false || matches?.(each.event) === false) continue;
      for (const measure of measures)
        if (slots.has(measure.slot)) foldMeasure(profile.state, each, measure, profile.state.evaluatedAt);
    }
  }
  return closeProfile(profile);
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
 * Sets a measure to what the tiles say. They have counted every event, also those that the measure counts since it began, so it is
 * overwritten and can be set any number of times. `sources` are those of the need, or all of the workspace. False: there was no room
 * for all tiles of this profile, and the tile may be one that is missing.
 */
export function setFromTiles(
  stored: StoredProfile,
  need: MeasureNeed,
  measure: PlannedMeasure,
  sources: readonly string[],
): { profile: StoredProfile; isWhole: boolean } {
  const profile = openProfile(stored);
  const found = sources.map((source) =>
    findTile(profile.state.tiles, hash48(tileName(source, need.type, need.event ?? ''))),
  );
  const tiles = found.filter((tile) => tile !== undefined);
  if (tiles.length > 0) overwrite(profile.state, measure, tiles);
  const isWhole = tiles.length === sources.length || !profile.state.tiles.isCapped;
  return { profile: closeProfile(profile), isWhole };
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
