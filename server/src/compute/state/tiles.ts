/**
 * The always-kept history of a profile: how often each event name of each source was seen, by the hour for 90 days, by the day for
 * three years, then as a total, with the first and the last time. A new definition starts from them. A profile keeps 200 tiles, those
 * with the least hashes: a choice that does not depend on the order of events.
 */
import {
  type ByteReader,
  type ByteWriter,
  readHash,
  readNumber,
  readPacked,
  type PackedPart,
  writeHash,
  writeNumber,
  writeSized,
  writePacked,
} from './bytes.ts';
import { oldestLive, readTime, writeTime } from './buckets.ts';
import {
  addToCells,
  mergeCells,
  type NumberCells,
  numberCells,
  pruneCells,
  readCells,
  writeCells,
} from './number-cells.ts';

const HOUR_MS = 3_600_000;
const DAY_MS = 86_400_000;
export const TILE_HOURS_MS = 90 * DAY_MS;
export const TILE_DAYS_MS = 1_095 * DAY_MS;
export const MAX_TILES = 200;

export type TileCells = { hours: NumberCells; days: NumberCells };

/** `cells` is undefined up to a total of two, where they follow from `first` and `last`, and packed until they are needed. */
export type Tile = {
  hash: number;
  total: number;
  first: number;
  last: number;
  cells: TileCells | PackedPart | undefined;
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

export function addToTile(tiles: Tiles, hash: number, eventAt: number): void {
  const tile = tileFor(tiles, hash);
  if (tile === undefined) return;
  if (tile.total >= 2) {
    tile.cells = cellsOf(tile);
    addToCells(tile.cells.hours, 'count', Math.floor(eventAt / HOUR_MS), [1, 0]);
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
  const tile = { hash, total: 0, first: 0, last: 0, cells: undefined };
  list.splice(place, 0, tile);
  if (isFull) list.pop();
  return tile;
}

/** The cells of a tile: unpacked, and made up where they are not kept. */
export function cellsOf({ total, first, last, cells }: Tile): TileCells {
  if (cells !== undefined) return 'hours' in cells ? cells : unpack(cells);
  const hours = numberCells();
  if (total > 0) addToCells(hours, 'count', Math.floor(first / HOUR_MS), [1, 0]);
  if (total > 1) addToCells(hours, 'count', Math.floor(last / HOUR_MS), [1, 0]);
  return { hours, days: numberCells() };
}

function unpack({ bytes, start, end }: PackedPart): TileCells {
  const from = { bytes, at: start };
  const length = readNumber(from);
  const hours = readCells(from, 'count', from.at + length, HOUR_MS);
  return { hours, days: readCells(from, 'count', end, DAY_MS) };
}

export function mergeTiles(into: Tiles, from: Tiles): void {
  for (const other of from.list) {
    const tile = tileFor(into, other.hash);
    if (tile === undefined) continue;
    const total = tile.total + other.total;
    if (total > 2) {
      const cells = tile.total === 0 ? { hours: numberCells(), days: numberCells() } : cellsOf(tile);
      const more = cellsOf(other);
      mergeCells(cells.hours, 'count', more.hours);
      mergeCells(cells.days, 'count', more.days);
      tile.cells = cells;
    }
    tile.first = tile.total === 0 ? other.first : Math.min(tile.first, other.first);
    tile.last = tile.total === 0 ? other.last : Math.max(tile.last, other.last);
    tile.total = total;
  }
  into.isCapped ||= from.isCapped;
}

/** Old hours become days, old days leave. */
export function ageTiles({ list }: Tiles, now: number): void {
  const oldestHour = oldestLive(now, TILE_HOURS_MS, HOUR_MS);
  for (const tile of list) {
    if (tile.cells === undefined) continue;
    const { hours, days } = (tile.cells = cellsOf(tile));
    while (hours.buckets.length > 0 && (hours.buckets[0] ?? 0) < oldestHour) {
      const day = Math.floor(((hours.buckets.shift() ?? 0) * HOUR_MS) / DAY_MS);
      addToCells(days, 'count', day, [hours.counts.shift() ?? 0, 0]);
    }
    pruneCells(days, oldestLive(now, TILE_DAYS_MS, DAY_MS));
  }
}

export function writeTiles(to: ByteWriter, { list, isCapped }: Tiles): void {
  writeNumber(to, list.length * 2 + (isCapped ? 1 : 0));
  for (const { hash, total, first, last, cells } of list) {
    writeHash(to, hash);
    writeNumber(to, total);
    writeTime(to, first);
    if (total > 1) writeNumber(to, last - first);
    if (cells !== undefined) writeSized(to, () => writeTileCells(to, cells));
  }
}

function writeTileCells(to: ByteWriter, cells: TileCells | PackedPart): void {
  if ('start' in cells) return writePacked(to, cells.bytes, cells.start, cells.end);
  writeSized(to, () => writeCells(to, 'count', cells.hours, HOUR_MS));
  writeCells(to, 'count', cells.days, DAY_MS);
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
  const first = readTime(from);
  const last = total > 1 ? first + readNumber(from) : first;
  if (total <= 2) return { hash, total, first, last, cells: undefined };
  return { hash, total, first, last, cells: readPacked(from) };
}
