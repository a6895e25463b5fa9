/**
 * Buckets are counted from 1970 in steps of a measure's resolution; lists of them are sorted, oldest first. Resolution 0: the
 * measure counts for good and has the one bucket 0.
 */
import { type ByteReader, type ByteWriter, readNumber, readSigned, writeNumber, writeSigned } from './bytes.ts';

/** Buckets are stored as distances from here: near zero for years, so in two or three bytes. */
export const BASE_MS = Date.UTC(2026, 0, 1);

export function bucketAt(eventAt: number, resolutionMs: number): number {
  return resolutionMs === 0 ? 0 : Math.floor(eventAt / resolutionMs);
}

/** The oldest bucket that still counts at a time: `now < (bucket + 1) · resolution + window`. */
export function oldestLive(now: number, windowMs: number, resolutionMs: number): number {
  return resolutionMs === 0 ? Number.NEGATIVE_INFINITY : Math.floor((now - windowMs) / resolutionMs);
}

/** The time from which a bucket no longer counts. */
export function endOf(bucket: number, windowMs: number, resolutionMs: number): number {
  return resolutionMs === 0 ? Number.POSITIVE_INFINITY : (bucket + 1) * resolutionMs + windowMs;
}

/** The place of a bucket; where it is missing, -1 - the place to put it. Most events are new, so it looks from the end. */
export function placeOf(buckets: readonly number[], bucket: number): number {
  let place = buckets.length;
  while (place > 0 && (buckets[place - 1] ?? 0) > bucket) place -= 1;
  return place > 0 && buckets[place - 1] === bucket ? place - 1 : -1 - place;
}

/** The first place at or after which all buckets are at least this one. */
export function firstFrom(buckets: readonly number[], oldest: number): number {
  let place = 0;
  while (place < buckets.length && (buckets[place] ?? 0) < oldest) place += 1;
  return place;
}

/** Writes a bucket as its distance from the one before, with a flag in the lowest bit. */
export function writeBucket(to: ByteWriter, distance: number, isFlagged: boolean): void {
  writeNumber(to, (distance < 0 ? -2 * distance - 1 : 2 * distance) * 2 + (isFlagged ? 1 : 0));
}

/** The distance in zigzag form, and the flag, in one number: see distanceIn and isFlagged. */
export const readBucket = readNumber;

export function distanceIn(read: number): number {
  const zigzag = Math.floor(read / 2);
  return zigzag % 2 === 0 ? zigzag / 2 : -(zigzag + 1) / 2;
}

export function isFlagged(read: number): boolean {
  return read % 2 === 1;
}

export function baseBucket(resolutionMs: number): number {
  return resolutionMs === 0 ? 0 : BASE_MS / resolutionMs;
}

/** Times of day and longer, in milliseconds. */
export function writeTime(to: ByteWriter, at: number): void {
  writeSigned(to, at - BASE_MS);
}

export function readTime(from: ByteReader): number {
  return readSigned(from) + BASE_MS;
}
