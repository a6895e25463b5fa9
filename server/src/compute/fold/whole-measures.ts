import { type Definition, isEventLeaf, isTraitLeaf, leavesOf } from '@millrace/contract/audiences';
import { isInTiles } from './backfill.ts';
import { type MeasureNeed, needsOf } from './measure-need.ts';
import type { MeasurePast, StoredMeasure } from '../profiles/stored-measure.ts';
import { TILE_MS } from '../state/tiles.ts';

export type PastFacts = {
  measures: readonly StoredMeasure[];
  /** All that the workspace has had. */
  sources: readonly string[];
  /** The change in which the version becomes live. */
  change: number;
  now: number;
  /** Before these times there is nothing in stored events, or in profiles; undefined when nothing is missing. */
  from: { events: number | undefined; profiles: number | undefined };
};

export type WholeMeasures = { measures: StoredMeasure[]; completeFrom: number | undefined };

/** The measures of a version that becomes live, each with its past, and the time before which the definition lacks events that count. */
export function wholeMeasures(definition: Definition, facts: PastFacts): WholeMeasures {
  const { measures, now, from } = facts;
  const needs = new Map(needsOf(definition).map((need) => [need.id, need]));
  const whole = measures.map((measure) => {
    const need = needs.get(measure.id);
    return need === undefined || measure.past !== undefined ? measure : { ...measure, past: pastOf(need, facts) };
  });
  const missing = whole.flatMap(({ id, past }) => {
    const need = needs.get(id);
    return need === undefined || past?.from === undefined ? [] : missingFor(need, past.from, now);
  });
  if (usesTraits(definition) && from.profiles !== undefined) missing.push(from.profiles);
  return { measures: whole, completeFrom: missing.length === 0 ? undefined : Math.max(...missing) };
}

function pastOf(need: MeasureNeed, { change, sources, now, from }: PastFacts): MeasurePast {
  if (!isInTiles(need)) return given(from.events);
  const hoursFrom = need.resolutionMs === 0 ? undefined : now - TILE_MS;
  const known = Math.max(from.profiles ?? 0, need.keepMs > TILE_MS ? (hoursFrom ?? 0) : 0);
  const fill = { since: change, sources: need.sources ?? sources };
  return { ...given(known === 0 ? undefined : known), fill };
}

function given(from: number | undefined): MeasurePast {
  return from === undefined ? {} : { from };
}

/** A window that begins later, or a range, misses nothing. */
function missingFor({ keepMs, resolutionMs, between }: MeasureNeed, from: number, now: number): number[] {
  const wanted = between?.from ?? now - keepMs - resolutionMs;
  return from > wanted ? [from] : [];
}

/** Traits of all sources are kept by the profiles themselves. */
function usesTraits(definition: Definition): boolean {
  if (definition.kind === 'trait' || definition.sources !== undefined) return false;
  return leavesOf(definition.when).some(({ leaf }) => !isEventLeaf(leaf) && isTraitLeaf(leaf));
}
