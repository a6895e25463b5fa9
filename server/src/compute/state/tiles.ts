/**
 * The always-kept history of a profile: how often each event name of each source was seen, by the hour for 90 days and as a total, with
 * the first and the last second. A new definition starts from them. A profile keeps 200 tiles, those with the least hashes: a choice
 * that does not depend on the order of events.
 */
import {
  type ByteReader,
  type ByteWriter,
  readHash,
  readNumber,
  readPacked,
  readSigned,
  type PackedPart,
  writeHash,
  writeNumber,
  writeSigned,
  writeSized,
  writePacked,
} from './bytes.ts';
import { BASE_MS, baseBucket, distanceIn, oldestLive, readBucket } from './buckets.ts';
import {
  addToCells,
  mergeCells,
  type NumberCells,
  numberCells,
  pruneCells,
  readCells,
  writeCells,
} from './number-cells.ts';

const SECOND_MS = 1_000;
const HOUR_MS = 3_600_000;
/** How far back tiles know the hours. */
export const TILE_MS = 90 * 86_400_000;
export const MAX_TILES = 200;

/** `hours` is undefined up to a total of two, where they follow from `first` and `last`, and packed until they are needed. */
export type Tile = {
  hash: number;
  total: number;
  first: number;
  last: number;
  hours: NumberCells | PackedPart | undefined;
};

/** Sorted by hash. */
export type Tiles = {
  list: Tile[];
  /** Some names found no room; a missing tile says nothing then. */
  isCapped: boolean;
};

export function noTiles(): Tiles {
  return { list: [], isCapped: false };
}

export function findTile({ list }: Tiles, hash: number): Tile | undefined {
  return list.find((tile) => tile.hash === hash);
}

export function addToTile(tiles: Tiles, hash: number, eventMs: number): void {
  const tile = tileFor(tiles, hash);
  const eventAt = Math.floor(eventMs / SECOND_MS) * SECOND_MS;
  if (tile === undefined) return;
  if (tile.total >= 2) {
    tile.hours = hoursOf(tile);
    addToCells(tile.hours, 'count', Math.floor(eventAt / HOUR_MS), [1, 0]);
  }
  tile.first = tile.total === 0 ? eventAt : Math.min(tile.first, eventAt);
  tile.last = tile.total === 0 ? eventAt : Math.max(tile.last, eventAt);
  tile.total += 1;
}

/** Undefined where there is no room for it. */
function tileFor(tiles: Tiles, hash: number): Tile | undefined {
  const { list } = tiles;
  let place = list.length;
  while (place > 0 && (list[place - 1]?.hash ?? 0) > hash) place -= 1;
  const found = list[place - 1];
  if (found?.hash === hash) return found;
  const isFull = list.length >= MAX_TILES;
  if (isFull) tiles.isCapped = true;
  // Where names have gone before, all names after the last one that is kept are gone.
  if (place === list.length && isFull) return undefined;
  const tile = { hash, total: 0, first: 0, last: 0, hours: undefined };
  list.splice(place, 0, tile);
  if (isFull) list.pop();
  return tile;
}

/** The hours of a tile: unpacked, and made up where they are not kept. */
export function hoursOf({ total, first, last, hours }: Tile): NumberCells {
  if (hours !== undefined) return 'buckets' in hours ? hours : unpack(hours);
  const made = numberCells();
  if (total > 0) addToCells(made, 'count', Math.floor(first / HOUR_MS), [1, 0]);
  if (total > 1) addToCells(made, 'count', Math.floor(last / HOUR_MS), [1, 0]);
  return made;
}

function unpack({ bytes, start, end }: PackedPart): NumberCells {
  return readCells({ bytes, at: start }, 'count', end, HOUR_MS);
}

export function mergeTiles(into: Tiles, from: Tiles): void {
  for (const other of from.list) {
    const tile = tileFor(into, other.hash);
    if (tile === undefined) continue;
    const total = tile.total + other.total;
    if (total > 2) {
      const hours = tile.total === 0 ? numberCells() : hoursOf(tile);
      mergeCells(hours, 'count', hoursOf(other));
      tile.hours = hours;
    }
    tile.first = tile.total === 0 ? other.first : Math.min(tile.first, other.first);
    tile.last = tile.total === 0 ? other.last : Math.max(tile.last, other.last);
    tile.total = total;
  }
  into.isCapped ||= from.isCapped;
}

/** Old hours leave; the total has them still. */
export function ageTiles({ list }: Tiles, now: number): void {
  const oldest = oldestLive(now, TILE_MS, HOUR_MS);
  for (const tile of list) {
    if (tile.hours === undefined || isYoung(tile.hours, oldest)) continue;
    tile.hours = hoursOf(tile);
    pruneCells(tile.hours, oldest);
  }
}

/** Whether packed hours have nothing to age. */
function isYoung(hours: NumberCells | PackedPart, oldest: number): boolean {
  if ('buckets' in hours || hours.start === hours.end) return !('buckets' in hours);
  const first = readBucket({ bytes: hours.bytes, at: hours.start });
  return baseBucket(HOUR_MS) + distanceIn(first) >= oldest;
}

export function writeTiles(to: ByteWriter, { list, isCapped }: Tiles): void {
  writeNumber(to, list.length * 2 + (isCapped ? 1 : 0));
  for (const { hash, total, first, last, hours } of list) {
    writeHash(to, hash);
    writeNumber(to, total);
    writeSigned(to, (first - BASE_MS) / SECOND_MS);
    if (total > 1) writeNumber(to, (last - first) / SECOND_MS);
    if (hours !== undefined) writeSized(to, () => writeHours(to, hours));
  }
}

function writeHours(to: ByteWriter, hours: NumberCells | PackedPart): void {
  if ('buckets' in hours) writeCells(to, 'count', hours, HOUR_MS);
  else writePacked(to, hours.bytes, hours.start, hours.end);
}

export function readTiles(from: ByteReader): Tiles {
  const read = readNumber(from);
  const list: Tile[] = [];
  for (let left = Math.floor(read / 2); left > 0; left -= 1) list.push(readTile(from));
  return { list, isCapped: read % 2 === 1 };
}

function readTile(from: ByteReader): Tile {
  const hash = readHash(from);
  const total = readNumber(from);
  const first = readSigned(from) * SECOND_MS + BASE_MS;
  const last = total > 1 ? first + readNumber(from) * SECOND_MS : first;
  if (total <= 2) return { hash, total, first, last, hours: undefined };
  return { hash, total, first, last, hours: readPacked(from) };
}
