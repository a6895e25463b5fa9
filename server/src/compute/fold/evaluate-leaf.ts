/**
 * The verdict of one leaf at a time, and until when it stays the same if no event comes. Buckets leave a window one by one, oldest
 * first, so the time of the next change follows from the buckets themselves.
 */
import { type JsonValue, ruleHolds, valueAt } from '@millrace/contract';
import { AMOUNT_SCALE } from '@millrace/contract/audiences';
import { addAmounts, type Amount } from '../state/bytes.ts';
import { endOf, firstFrom, oldestLive } from '../state/buckets.ts';
import { isNumbers, isStamped } from '../state/measure.ts';
import type { NumberCells } from '../state/number-cells.ts';
import { findMeasure, type ProfileState, traitsOf } from '../state/profile-state.ts';
import type { Bounds, NumberLeaf, PlannedMeasure, TraitTest } from './plan.ts';

/**
 * The time until which a verdict stays the same, Infinity for good; negative while the condition does not hold. One number and not an
 * object, since a profile has a hundred of them at each evaluation.
 */
export type Verdict = number;

export function verdict(holds: boolean, until: number): Verdict {
  return holds ? until : -until;
}

export function holdsBy(given: Verdict): boolean {
  return given > 0;
}

/** The sum of a window's buckets. `count` is 0 for none; min and max count buckets. */
export type Total = { count: number; amount: Amount };

const NOTHING: Readonly<Total> = { count: 0, amount: 0 };

export function numberVerdict(state: ProfileState, leaf: NumberLeaf, now: number): Verdict {
  const { measure, windowMs, aggregate, bounds, atLeastOnly } = leaf;
  const cells = cellsOf(state, measure);
  if (cells === undefined) return verdict(isWithin(NOTHING, aggregate, bounds), Number.POSITIVE_INFINITY);
  const first = firstFrom(cells.buckets, oldestLive(now, windowMs, measure.resolutionMs));
  if (atLeastOnly !== undefined) return countVerdict(cells, leaf, first, atLeastOnly);
  const holds = isWithin(totalFrom(cells, measure.kind, first), aggregate, bounds);
  const isStill = (total: Total) => isWithin(total, aggregate, bounds) === holds;
  return verdict(holds, changeAt(cells, measure, { first, windowMs, isStill }));
}

/** The most frequent leaf: a count of at least a number. It holds until the oldest bucket leaves that the count cannot do without. */
function countVerdict({ buckets, counts }: NumberCells, leaf: NumberLeaf, first: number, atLeast: number): Verdict {
  let count = 0;
  for (let at = buckets.length - 1; at >= first; at -= 1) {
    count += counts[at] ?? 0;
    if (count >= atLeast) return endOf(buckets[at] ?? 0, leaf.windowMs, leaf.measure.resolutionMs);
  }
  return Number.NEGATIVE_INFINITY;
}

export function cellsOf(state: ProfileState, measure: PlannedMeasure): NumberCells | undefined {
  const content = findMeasure(state, measure.slot, measure);
  return content !== undefined && isNumbers(content) ? content.cells : undefined;
}

export function totalFrom(cells: NumberCells, kind: PlannedMeasure['kind'], first: number): Total {
  const total: Total = { count: 0, amount: 0 };
  for (let at = first; at < cells.buckets.length; at += 1) addCell(total, cells, kind, at);
  return total;
}

function addCell(total: Total, cells: NumberCells, kind: PlannedMeasure['kind'], at: number): void {
  if (kind === 'count') {
    total.count += cells.counts[at] ?? 0;
    return;
  }
  const own = cells.amounts[at] ?? 0;
  if (kind === 'sum') {
    total.count += cells.counts[at] ?? 0;
    total.amount = addAmounts(total.amount, own);
    return;
  }
  if (total.count === 0 || (kind === 'min' ? own < total.amount : own > total.amount)) total.amount = own;
  total.count += 1;
}

type Window = { first: number; windowMs: number; isStill(total: Total): boolean };

/**
 * When the total of the remaining buckets first differs: goes from the newest bucket to the oldest, and notes the last place from which
 * on the rest is no longer the same.
 */
export function changeAt(cells: NumberCells, measure: PlannedMeasure, { first, windowMs, isStill }: Window): number {
  if (windowMs === Number.POSITIVE_INFINITY) return Number.POSITIVE_INFINITY;
  const total: Total = { count: 0, amount: 0 };
  let changed = -1;
  for (let at = cells.buckets.length; at > first; at -= 1) {
    if (!isStill(total)) changed = at;
    addCell(total, cells, measure.kind, at - 1);
  }
  // The rest from `changed` on is there alone once the bucket before it has left.
  return changed < 0
    ? Number.POSITIVE_INFINITY
    : endOf(cells.buckets[changed - 1] ?? 0, windowMs, measure.resolutionMs);
}

/** Without events a count and a sum are 0; least, greatest and average are nothing, which is within no bounds. */
function isWithin(total: Readonly<Total>, aggregate: NumberLeaf['aggregate'], bounds: Bounds): boolean {
  if (aggregate === 'count') return fits(total.count, bounds);
  if (aggregate === 'sum') return fits(total.amount, bounds);
  if (total.count === 0) return false;
  return aggregate === 'average' ? fitsAverage(total, bounds) : fits(total.amount, bounds);
}

function fits(value: Amount, { atLeast, lessThan, exactly }: Bounds): boolean {
  if (atLeast !== undefined && value < atLeast) return false;
  if (lessThan !== undefined && value >= lessThan) return false;
  return exactly === undefined || value === exactly;
}

/** Compares the sum with bound × count, which is exact. */
function fitsAverage({ count, amount }: Total, { atLeast, lessThan, exactly }: Bounds): boolean {
  return fits(amount, {
    atLeast: times(atLeast, count),
    lessThan: times(lessThan, count),
    exactly: times(exactly, count),
  });
}

function times(bound: Amount | undefined, count: number): Amount | undefined {
  if (bound === undefined) return undefined;
  const product = typeof bound === 'number' ? bound * count : Number.NaN;
  if (Number.isSafeInteger(product)) return product;
  const exact = BigInt(bound) * BigInt(count);
  return Number.isSafeInteger(Number(exact)) ? Number(exact) : exact;
}

/** The average in whole millionths, rounded half up, as a number. */
export function averageOf({ count, amount }: Total): number {
  if (typeof amount === 'number' && Number.isSafeInteger(2 * amount + count))
    return Math.floor((2 * amount + count) / (2 * count)) / AMOUNT_SCALE;
  const [over, under] = [2n * BigInt(amount) + BigInt(count), 2n * BigInt(count)];
  const down = over / under - (over % under < 0n ? 1n : 0n);
  return Number(down) / AMOUNT_SCALE;
}

/** The newest value of a trait; undefined for none. */
export function traitValue(state: ProfileState, { names, measure }: TraitTest): JsonValue | undefined {
  const [name = '', ...path] = names;
  const value = measure === undefined ? traitsOf(state).get(name)?.value : ownTrait(state, measure);
  return value === undefined || value === null ? undefined : valueAt(value, path);
}

function ownTrait(state: ProfileState, measure: PlannedMeasure): JsonValue | undefined {
  const content = findMeasure(state, measure.slot, measure);
  return content !== undefined && isStamped(content) ? content.cells.values[0] : undefined;
}

export function traitVerdict(state: ProfileState, test: TraitTest): Verdict {
  return verdict(ruleHolds(test.rule, traitValue(state, test)), Number.POSITIVE_INFINITY);
}
