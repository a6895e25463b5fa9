/** The value of a computed trait at a time (null without events that count), and until when it stays the same if no event comes. */
import type { FilterValue } from '@millrace/contract';
import { AMOUNT_SCALE, compareValues } from '@millrace/contract/audiences';
import type { ComputedValue } from '../profiles/profile-store.ts';
import { endOf, firstFrom, oldestLive } from '../state/buckets.ts';
import {
  type FrequentMeasure,
  isNumbers,
  isStamped,
  type NumberMeasure,
  type StampedMeasure,
  type UniqueMeasure,
} from '../state/measure.ts';
import { findMeasure, type ProfileState } from '../state/profile-state.ts';
import { averageOf, changeAt, type Total, totalFrom } from './evaluate-leaf.ts';
import type { PlannedTrait } from './plan.ts';

/** `isCapped`: there were more values than a list holds. */
export type TraitValue = { value: ComputedValue; until: number; isCapped?: boolean };

const NONE: TraitValue = { value: null, until: Number.POSITIVE_INFINITY };

export function computeTrait(state: ProfileState, trait: PlannedTrait, now: number): TraitValue {
  const { measure, windowMs } = trait;
  const content = findMeasure(state, measure.slot, measure);
  if (content === undefined) return NONE;
  const oldest = oldestLive(now, windowMs, measure.resolutionMs);
  if (isNumbers(content)) return numberTrait(content, trait, oldest);
  if (isStamped(content)) return stampedTrait(content, trait, oldest);
  return content.kind === 'unique' ? uniqueTrait(content, trait, oldest) : frequentTrait(content, trait, oldest);
}

function numberTrait({ cells }: NumberMeasure, trait: PlannedTrait, oldest: number): TraitValue {
  const { measure, windowMs, compute } = trait;
  const first = firstFrom(cells.buckets, oldest);
  const value = numberOf(totalFrom(cells, measure.kind, first), compute);
  const isStill = (total: Total) => numberOf(total, compute) === value;
  return { value, until: changeAt(cells, measure, { first, windowMs, isStill }) };
}

function numberOf(total: Total, compute: PlannedTrait['compute']): number | null {
  if (total.count === 0) return null;
  if (compute === 'count') return total.count;
  if (compute === 'average') return averageOf(total);
  return compute === 'sum' ? Number(total.amount) / AMOUNT_SCALE : Number(total.amount);
}

function stampedTrait({ cells }: StampedMeasure, { measure, windowMs }: PlannedTrait, oldest: number): TraitValue {
  const place = firstFrom(cells.buckets, oldest);
  const bucket = cells.buckets[place];
  if (bucket === undefined) return NONE;
  return { value: cells.values[place] as FilterValue, until: endOf(bucket, windowMs, measure.resolutionMs) };
}

function uniqueTrait({ values }: UniqueMeasure, trait: PlannedTrait, oldest: number): TraitValue {
  const live = [...values.newest].filter(([, bucket]) => bucket >= oldest);
  const until = endOf(Math.min(...live.map(([, bucket]) => bucket)), trait.windowMs, trait.measure.resolutionMs);
  const isCapped = values.dropped !== undefined && values.dropped >= oldest;
  if (live.length === 0) return NONE;
  if (trait.compute === 'unique_count') return { value: live.length, until, isCapped };
  return { value: live.map(([value]) => value).toSorted(compareValues), until, isCapped };
}

/** Among equally frequent values the first in their order. */
function frequentTrait({ values }: FrequentMeasure, trait: PlannedTrait, oldest: number): TraitValue {
  let best: { value: FilterValue; count: number } | undefined;
  let firstBucket = Number.POSITIVE_INFINITY;
  for (const [value, cells] of values.counts) {
    const first = firstFrom(cells.buckets, oldest);
    const { count } = totalFrom(cells, 'count', first);
    if (count === 0) continue;
    firstBucket = Math.min(firstBucket, cells.buckets[first] ?? firstBucket);
    const isBetter =
      best === undefined || count > best.count || (count === best.count && compareValues(value, best.value) < 0);
    if (isBetter) best = { value, count };
  }
  if (best === undefined) return NONE;
  const isCapped = values.cutoff !== undefined && values.dropped >= oldest;
  return { value: best.value, until: endOf(firstBucket, trait.windowMs, trait.measure.resolutionMs), isCapped };
}
