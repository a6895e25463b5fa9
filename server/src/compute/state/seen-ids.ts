/**
 * The messageIds that a profile has counted, as hashes by the hour of their receipt, so that the second copy of an event counts
 * nothing. An id leaves 24 full hours after the newest receipt of the profile, or when 256 newer ones are there.
 */
import { type ByteReader, type ByteWriter, readHash, readNumber, writeHash, writeNumber } from './bytes.ts';
import { baseBucket, distanceIn, readBucket, writeBucket } from './buckets.ts';

const HOUR_MS = 3_600_000;
const KEPT_HOURS = 24;
export const MAX_SEEN_IDS = 256;

/** Sorted by hour, then by hash. */
export type SeenIds = { hours: number[]; hashes: number[] };

export type Sighted = { isKnown: boolean; evicted: number };

export function seenIds(): SeenIds {
  return { hours: [], hashes: [] };
}

/** Remembers an id; a known one is kept from its latest receipt on, since clients go on repeating. */
export function rememberId(seen: SeenIds, hash: number, receivedAt: number): Sighted {
  const hour = Math.floor(receivedAt / HOUR_MS);
  forgetOld(seen, hour);
  const known = seen.hashes.indexOf(hash);
  if (known >= 0) {
    if ((seen.hours[known] ?? 0) >= hour) return { isKnown: true, evicted: 0 };
    seen.hours.splice(known, 1);
    seen.hashes.splice(known, 1);
  }
  // Beside a receipt of a day later it is of no use any more.
  if (hour >= (seen.hours.at(-1) ?? hour) - KEPT_HOURS) insert(seen, hour, hash);
  return { isKnown: known >= 0, evicted: limit(seen) };
}

function insert({ hours, hashes }: SeenIds, hour: number, hash: number): void {
  let place = hours.length;
  while (place > 0 && isAfter(hours[place - 1] ?? 0, hashes[place - 1] ?? 0, [hour, hash])) place -= 1;
  hours.splice(place, 0, hour);
  hashes.splice(place, 0, hash);
}

function isAfter(hour: number, hash: number, [otherHour, otherHash]: [number, number]): boolean {
  return hour > otherHour || (hour === otherHour && hash > otherHash);
}

function forgetOld({ hours, hashes }: SeenIds, hour: number): void {
  const oldest = Math.max(hour, hours.at(-1) ?? hour) - KEPT_HOURS;
  let gone = 0;
  while (gone < hours.length && (hours[gone] ?? 0) < oldest) gone += 1;
  if (gone === 0) return;
  hours.splice(0, gone);
  hashes.splice(0, gone);
}

function limit({ hours, hashes }: SeenIds): number {
  const evicted = Math.max(0, hours.length - MAX_SEEN_IDS);
  hours.splice(0, evicted);
  hashes.splice(0, evicted);
  return evicted;
}

/** Gives the number of ids for which there was no room. */
export function mergeSeen(into: SeenIds, from: SeenIds): number {
  let evicted = 0;
  for (const [at, hash] of from.hashes.entries())
    evicted += rememberId(into, hash, (from.hours[at] ?? 0) * HOUR_MS).evicted;
  return evicted;
}

/** Hour by hour: its distance from the one before, whether another hour follows, the number of its ids, the ids. */
export function writeSeen(to: ByteWriter, { hours, hashes }: SeenIds): void {
  writeNumber(to, hashes.length);
  let before = baseBucket(HOUR_MS);
  for (let at = 0; at < hours.length; ) {
    const hour = hours[at] ?? 0;
    let end = at;
    while (end < hours.length && hours[end] === hour) end += 1;
    writeBucket(to, hour - before, end - at > 1);
    if (end - at > 1) writeNumber(to, end - at);
    for (; at < end; at += 1) writeHash(to, hashes[at] ?? 0);
    before = hour;
  }
}

export function readSeen(from: ByteReader): SeenIds {
  const seen = seenIds();
  const length = readNumber(from);
  let hour = baseBucket(HOUR_MS);
  while (seen.hashes.length < length) {
    const read = readBucket(from);
    hour += distanceIn(read);
    for (let left = read % 2 === 1 ? readNumber(from) : 1; left > 0; left -= 1) {
      seen.hours.push(hour);
      seen.hashes.push(readHash(from));
    }
  }
  return seen;
}
