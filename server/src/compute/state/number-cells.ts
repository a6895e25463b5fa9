import {
  addAmounts,
  type Amount,
  type ByteReader,
  type ByteWriter,
  readAmount,
  readNumber,
  writeAmount,
  writeNumber,
} from './bytes.ts';
import { baseBucket, distanceIn, isFlagged, placeOf, readBucket, writeBucket } from './buckets.ts';
import { readScalar, writeValue } from './value-bytes.ts';

export type NumberKind = 'count' | 'sum' | 'min' | 'max';

/**
 * The cells of a measure of numbers, one a bucket: `counts` for count and sum, `amounts` for sum (whole millionths), min and max
 * (the numbers themselves). A list that the kind does not use is empty.
 */
export type NumberCells = { buckets: number[]; counts: number[]; amounts: Amount[] };

export function numberCells(): NumberCells {
  return { buckets: [], counts: [], amounts: [] };
}

/** Adds so many events with this amount. Adding in any order gives the same cells. */
export function addToCells(
  cells: NumberCells,
  kind: NumberKind,
  bucket: number,
  [count, amount]: [number, Amount],
): void {
  const place = placeOf(cells.buckets, bucket);
  if (place < 0) {
    cells.buckets.splice(-1 - place, 0, bucket);
    if (kind === 'count' || kind === 'sum') cells.counts.splice(-1 - place, 0, count);
    if (kind !== 'count') cells.amounts.splice(-1 - place, 0, amount);
    return;
  }
  if (kind === 'count' || kind === 'sum') cells.counts[place] = (cells.counts[place] ?? 0) + count;
  if (kind !== 'count') cells.amounts[place] = together(kind, cells.amounts[place] ?? 0, amount);
}

function together(kind: 'sum' | 'min' | 'max', a: Amount, b: Amount): Amount {
  switch (kind) {
    case 'sum':
      return addAmounts(a, b);
    case 'min':
      return a < b ? a : b;
    case 'max':
      return a > b ? a : b;
  }
}

export function mergeCells(into: NumberCells, kind: NumberKind, from: NumberCells): void {
  for (const [at, bucket] of from.buckets.entries())
    addToCells(into, kind, bucket, [from.counts[at] ?? 0, from.amounts[at] ?? 0]);
}

export function pruneCells(cells: NumberCells, oldest: number): void {
  let expired = 0;
  while (expired < cells.buckets.length && (cells.buckets[expired] ?? 0) < oldest) expired += 1;
  if (expired === 0) return;
  cells.buckets.splice(0, expired);
  cells.counts.splice(0, expired);
  cells.amounts.splice(0, expired);
}

export function writeCells(to: ByteWriter, kind: NumberKind, cells: NumberCells, resolutionMs: number): void {
  const isCounted = kind === 'count' || kind === 'sum';
  let before = baseBucket(resolutionMs);
  for (let at = 0; at < cells.buckets.length; at += 1) {
    const bucket = cells.buckets[at] ?? 0;
    const count = isCounted ? (cells.counts[at] ?? 0) : 1;
    writeBucket(to, bucket - before, count > 1);
    before = bucket;
    if (count > 1) writeNumber(to, count);
    const amount = cells.amounts[at] ?? 0;
    if (kind === 'sum') writeAmount(to, amount);
    else if (!isCounted) writeValue(to, Number(amount));
  }
}

export function readCells(from: ByteReader, kind: NumberKind, end: number, resolutionMs: number): NumberCells {
  const cells = numberCells();
  let bucket = baseBucket(resolutionMs);
  while (from.at < end) {
    const read = readBucket(from);
    bucket += distanceIn(read);
    cells.buckets.push(bucket);
    const count = isFlagged(read) ? readNumber(from) : 1;
    if (kind === 'count' || kind === 'sum') cells.counts.push(count);
    if (kind === 'sum') cells.amounts.push(readAmount(from));
    else if (kind !== 'count') cells.amounts.push(Number(readScalar(from)));
  }
  return cells;
}
