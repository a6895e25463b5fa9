import { type ByteReader, type ByteWriter, readHash, writeHash } from './bytes.ts';
import { bucketAt, placeOf, readTime, writeTime } from './buckets.ts';
import { type KeptValue, readValue, writeValue } from './value-bytes.ts';

/** When a value was given: the time of the event, then the hash of its messageId, which decides between equal times. */
export type Stamp = { at: number; hash: number };
export type StampedKind = 'first' | 'last' | 'trait';

/**
 * Values by stamp, one a bucket. `first` keeps the first of each bucket, since the one before it may leave the window; `last`
 * and `trait` keep the newest only: when that leaves, the older ones have left.
 */
export type StampedCells = { buckets: number[]; stamps: Stamp[]; values: KeptValue[] };

export function stampedCells(): StampedCells {
  return { buckets: [], stamps: [], values: [] };
}

/** Below 0 when a comes before b. */
export function compareStamps(a: Stamp, b: Stamp): number {
  return a.at - b.at || a.hash - b.hash;
}

export function addStamped(
  cells: StampedCells,
  kind: StampedKind,
  bucket: number,
  [stamp, value]: [Stamp, KeptValue],
): void {
  if (kind !== 'first') {
    const newest = cells.stamps[0];
    if (newest !== undefined && compareStamps(newest, stamp) >= 0) return;
    cells.buckets[0] = bucket;
    cells.stamps[0] = stamp;
    cells.values[0] = value;
    return;
  }
  const place = placeOf(cells.buckets, bucket);
  if (place < 0) {
    cells.buckets.splice(-1 - place, 0, bucket);
    cells.stamps.splice(-1 - place, 0, stamp);
    cells.values.splice(-1 - place, 0, value);
  } else if (compareStamps(stamp, cells.stamps[place] ?? stamp) < 0) {
    cells.stamps[place] = stamp;
    cells.values[place] = value;
  }
}

export function mergeStamped(into: StampedCells, kind: StampedKind, from: StampedCells): void {
  for (const [at, bucket] of from.buckets.entries()) {
    const stamp = from.stamps[at];
    if (stamp !== undefined) addStamped(into, kind, bucket, [stamp, from.values[at] ?? null]);
  }
}

export function pruneStamped(cells: StampedCells, oldest: number): void {
  let expired = 0;
  while (expired < cells.buckets.length && (cells.buckets[expired] ?? 0) < oldest) expired += 1;
  if (expired === 0) return;
  cells.buckets.splice(0, expired);
  cells.stamps.splice(0, expired);
  cells.values.splice(0, expired);
}

/** The bucket follows from the time. */
export function writeStamped(to: ByteWriter, cells: StampedCells): void {
  for (const [at, stamp] of cells.stamps.entries()) {
    writeTime(to, stamp.at);
    writeHash(to, stamp.hash);
    writeValue(to, cells.values[at] ?? null);
  }
}

export function readStamped(from: ByteReader, end: number, resolutionMs: number): StampedCells {
  const cells = stampedCells();
  while (from.at < end) {
    const at = readTime(from);
    cells.buckets.push(bucketAt(at, resolutionMs));
    cells.stamps.push({ at, hash: readHash(from) });
    cells.values.push(readValue(from));
  }
  return cells;
}
