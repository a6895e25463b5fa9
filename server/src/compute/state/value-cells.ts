import type { FilterValue } from '@millrace/contract';
import { compareValues, MAX_LIST_VALUES } from '@millrace/contract/audiences';
import {
  type ByteReader,
  type ByteWriter,
  readNumber,
  readSigned,
  writeNumber,
  writeSigned,
  writeSized,
} from './bytes.ts';
import { baseBucket } from './buckets.ts';
import {
  addToCells,
  mergeCells,
  type NumberCells,
  numberCells,
  pruneCells,
  readCells,
  writeCells,
} from './number-cells.ts';
import { readScalar, writeValue } from './value-bytes.ts';

/**
 * The distinct values of a field, each with the newest bucket in which it was seen. The 100 newest are kept: a value that had to
 * go leaves the window no later than those that stayed, so the list is exact again once `dropped` has left it.
 */
export type UniqueValues = {
  newest: Map<FilterValue, number>;
  /** The newest bucket of a value that had to go; the list is capped while it counts. */
  dropped: number | undefined;
};

/**
 * How often each value was seen, by bucket. The 100 first in the order of values are kept, because that choice does not depend on
 * the order of events: `cutoff` is the least value that had to go, and values from there on are not counted until `dropped`, the
 * newest bucket with one of them, has left the window.
 */
export type ValueCounts = {
  counts: Map<FilterValue, NumberCells>;
  cutoff: FilterValue | undefined;
  dropped: number;
};

export function uniqueValues(): UniqueValues {
  return { newest: new Map(), dropped: undefined };
}

export function addUnique(values: UniqueValues, value: FilterValue, bucket: number): void {
  const before = values.newest.get(value);
  if (before !== undefined && before >= bucket) return;
  values.newest.set(value, bucket);
  if (values.newest.size <= MAX_LIST_VALUES) return;
  const [gone, goneBucket] = oldestValue(values.newest);
  values.newest.delete(gone);
  values.dropped = Math.max(values.dropped ?? goneBucket, goneBucket);
}

/** Among equally old ones the last in the order of values. */
function oldestValue(newest: ReadonlyMap<FilterValue, number>): [FilterValue, number] {
  let found: [FilterValue, number] | undefined;
  for (const entry of newest) {
    if (found === undefined || entry[1] < found[1] || (entry[1] === found[1] && compareValues(entry[0], found[0]) > 0))
      found = entry;
  }
  if (found === undefined) throw new Error('No value to take away');
  return found;
}

export function mergeUnique(into: UniqueValues, from: UniqueValues): void {
  for (const [value, bucket] of from.newest) addUnique(into, value, bucket);
  if (from.dropped !== undefined) into.dropped = Math.max(into.dropped ?? from.dropped, from.dropped);
}

export function pruneUnique(values: UniqueValues, oldest: number): void {
  for (const [value, bucket] of values.newest) if (bucket < oldest) values.newest.delete(value);
  if (values.dropped !== undefined && values.dropped < oldest) values.dropped = undefined;
}

export function writeUnique(to: ByteWriter, values: UniqueValues, base: number): void {
  writeDropped(to, values.dropped, base);
  for (const value of [...values.newest.keys()].toSorted(compareValues)) {
    writeValue(to, value);
    writeSigned(to, (values.newest.get(value) ?? 0) - base);
  }
}

export function readUnique(from: ByteReader, end: number, base: number): UniqueValues {
  const values = uniqueValues();
  values.dropped = readDropped(from, base);
  while (from.at < end) {
    const value = readScalar(from);
    values.newest.set(value, readSigned(from) + base);
  }
  return values;
}

function writeDropped(to: ByteWriter, dropped: number | undefined, base: number): void {
  writeNumber(to, dropped === undefined ? 0 : 1);
  if (dropped !== undefined) writeSigned(to, dropped - base);
}

function readDropped(from: ByteReader, base: number): number | undefined {
  return readNumber(from) === 0 ? undefined : readSigned(from) + base;
}

export function valueCounts(): ValueCounts {
  return { counts: new Map(), cutoff: undefined, dropped: 0 };
}

export function addValueCount(values: ValueCounts, value: FilterValue, bucket: number): void {
  addCounted(values, value, (cells) => addToCells(cells, 'count', bucket, [1, 0]), bucket);
}

function addCounted(values: ValueCounts, value: FilterValue, add: (cells: NumberCells) => void, newest: number): void {
  if (values.cutoff !== undefined && compareValues(value, values.cutoff) >= 0)
    return drop(values, values.cutoff, newest);
  let cells = values.counts.get(value);
  if (cells === undefined) values.counts.set(value, (cells = numberCells()));
  add(cells);
  if (values.counts.size > MAX_LIST_VALUES) dropLast(values);
}

function dropLast(values: ValueCounts): void {
  const last = [...values.counts.keys()].reduce((a, b) => (compareValues(a, b) > 0 ? a : b));
  const newest = values.counts.get(last)?.buckets.at(-1) ?? 0;
  values.counts.delete(last);
  drop(values, last, newest);
}

function drop(values: ValueCounts, cutoff: FilterValue, bucket: number): void {
  values.dropped = values.cutoff === undefined ? bucket : Math.max(values.dropped, bucket);
  values.cutoff = cutoff;
}

export function mergeValueCounts(into: ValueCounts, from: ValueCounts): void {
  if (from.cutoff !== undefined) lowerCutoff(into, from.cutoff, from.dropped);
  for (const [value, cells] of from.counts)
    addCounted(into, value, (own) => mergeCells(own, 'count', cells), cells.buckets.at(-1) ?? 0);
}

function lowerCutoff(values: ValueCounts, cutoff: FilterValue, dropped: number): void {
  const isLower = values.cutoff === undefined || compareValues(cutoff, values.cutoff) < 0;
  drop(values, isLower ? cutoff : (values.cutoff ?? cutoff), dropped);
  if (!isLower) return;
  for (const [value, cells] of values.counts) {
    if (compareValues(value, cutoff) < 0) continue;
    values.counts.delete(value);
    drop(values, cutoff, cells.buckets.at(-1) ?? 0);
  }
}

export function pruneValueCounts(values: ValueCounts, oldest: number): void {
  for (const [value, cells] of values.counts) {
    pruneCells(cells, oldest);
    if (cells.buckets.length === 0) values.counts.delete(value);
  }
  if (values.cutoff === undefined || values.dropped >= oldest) return;
  values.cutoff = undefined;
  values.dropped = 0;
}

export function writeValueCounts(to: ByteWriter, values: ValueCounts, resolutionMs: number): void {
  const base = baseBucket(resolutionMs);
  writeDropped(to, values.cutoff === undefined ? undefined : values.dropped, base);
  if (values.cutoff !== undefined) writeValue(to, values.cutoff);
  for (const value of [...values.counts.keys()].toSorted(compareValues)) {
    const cells = values.counts.get(value) ?? numberCells();
    writeValue(to, value);
    writeSized(to, () => writeCells(to, 'count', cells, resolutionMs));
  }
}

export function readValueCounts(from: ByteReader, end: number, resolutionMs: number): ValueCounts {
  const base = baseBucket(resolutionMs);
  const values = valueCounts();
  const dropped = readDropped(from, base);
  if (dropped !== undefined) {
    values.dropped = dropped;
    values.cutoff = readScalar(from);
  }
  while (from.at < end) {
    const value = readScalar(from);
    const length = readNumber(from);
    values.counts.set(value, readCells(from, 'count', from.at + length, resolutionMs));
  }
  return values;
}
