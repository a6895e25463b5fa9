/**
 * A table of texts by key whose bytes lie outside of the JavaScript heap: a million entries cost their bytes and about fifty more
 * each, and the garbage collector never looks at them.
 *
 * A record has a number, which it keeps until its key is removed. Its bytes lie in a slab, one behind the other. A change writes
 * the new bytes at the end of the newest slab and leaves the old ones as waste; a slab that is less than three quarters in use
 * is emptied into the newest one. An open-addressing index leads from the hash of a key to its record.
 */
import { randomInt } from 'node:crypto';
import { openColumn } from './column.ts';

export type ByteTable = {
  /** The number of the record, or NO_RECORD. */
  find(key: string): number;
  /** Adds or replaces the text of a key; returns the number of its record. */
  put(key: string, text: string): number;
  remove(key: string): void;
  keyOf(record: number): string;
  textOf(record: number): string;
  size(): number;
  /** The sizes of all slabs together. */
  slabBytes(): number;
};

export const NO_RECORD = -1;

const SLAB_BYTES = 1_048_576;
/** A place is a slab's number and an offset in units of eight bytes, in 32 bits: 32 GB at most. */
const UNIT = 8;
const PLACES_PER_SLAB = SLAB_BYTES / UNIT;
/** The record's number, the length of its key and that of its text. */
const HEADER_BYTES = 12;
const LEAST_USED = 0.75;
const FIRST_SLOTS = 1_024;
const MOST_LOAD = 0.6;

type Slab = { bytes: Buffer; end: number; live: number };

// oxlint-disable-next-line max-lines-per-function -- a factory: its parts share its state
export function openByteTable(slabBytes = SLAB_BYTES): ByteTable {
  const seed = randomInt(2 ** 32);
  const places = openColumn();
  const hashes = openColumn();
  const free: number[] = [];
  const slabs: (Slab | undefined)[] = [];
  let newest = -1;
  /** Slabs that were full since the last look for waste. */
  const full: number[] = [];
  /** Each slot holds the number of a record plus one, or zero. */
  let slots = new Uint32Array(FIRST_SLOTS);
  let records = 0;
  let size = 0;
  let scratch = Buffer.allocUnsafeSlow(256);
  let scratchEnd = 0;

  /** Leaves the key's bytes in `scratch`, and returns their hash. */
  function prepare(key: string): number {
    if (key.length * 3 > scratch.length) scratch = Buffer.allocUnsafeSlow(key.length * 3);
    scratchEnd = scratch.write(key, 'utf8');
    return hashOf(scratch, scratchEnd, seed);
  }

  function slabAt(place: number): Slab {
    const slab = slabs[Math.floor(place / PLACES_PER_SLAB)];
    if (slab === undefined) throw new Error('a record whose slab is gone');
    return slab;
  }

  /** The record of the key that `prepare` has read. */
  function findPrepared(hash: number): number {
    const mask = slots.length - 1;
    for (let slot = hash & mask; ; slot = (slot + 1) & mask) {
      const found = slots[slot] ?? 0;
      if (found === 0) return NO_RECORD;
      if (hashes.get(found - 1) === hash && hasPreparedKey(found - 1)) return found - 1;
    }
  }

  function hasPreparedKey(record: number): boolean {
    const place = places.get(record);
    const { bytes } = slabAt(place);
    const at = offsetOf(place);
    if (bytes.readUInt32LE(at + 4) !== scratchEnd) return false;
    return bytes.compare(scratch, 0, scratchEnd, at + HEADER_BYTES, at + HEADER_BYTES + scratchEnd) === 0;
  }

  function addSlab(bytes: number): number {
    const gap = slabs.indexOf(undefined);
    const index = gap === -1 ? slabs.length : gap;
    slabs[index] = { bytes: Buffer.allocUnsafeSlow(bytes), end: 0, live: 0 };
    return index;
  }

  /** Room for this many bytes: in the newest slab, or in a slab of its own for a long text. */
  function reserve(bytes: number): number {
    const isLong = bytes > slabBytes / 8;
    const current = slabs[newest];
    if (!isLong && (current === undefined || current.end + bytes > current.bytes.length)) {
      if (current !== undefined) full.push(newest);
      newest = addSlab(slabBytes);
    }
    const index = isLong ? addSlab(bytes) : newest;
    const slab = slabs[index] as Slab;
    const place = index * PLACES_PER_SLAB + slab.end / UNIT;
    slab.end += bytes;
    slab.live += bytes;
    return place;
  }

  function write(record: number, text: string): void {
    const length = Buffer.byteLength(text);
    const place = reserve(roundUp(HEADER_BYTES + scratchEnd + length));
    const { bytes } = slabAt(place);
    const at = offsetOf(place);
    bytes.writeUInt32LE(record, at);
    bytes.writeUInt32LE(scratchEnd, at + 4);
    bytes.writeUInt32LE(length, at + 8);
    scratch.copy(bytes, at + HEADER_BYTES, 0, scratchEnd);
    bytes.write(text, at + HEADER_BYTES + scratchEnd, length, 'utf8');
    places.set(record, place);
  }

  /** The bytes of a record become waste. */
  function waste(place: number): void {
    const slab = slabAt(place);
    slab.live -= sizeAt(slab.bytes, offsetOf(place));
    const index = Math.floor(place / PLACES_PER_SLAB);
    emptyIfWasteful(index);
    // Short texts fill a slab to seven eighths at least, so a slab that is written by this is not wasteful again.
    while (full.length > 0) emptyIfWasteful(full.pop() ?? newest);
  }

  function emptyIfWasteful(index: number): void {
    const slab = slabs[index];
    if (slab !== undefined && index !== newest && slab.live < slab.bytes.length * LEAST_USED) empty(index, slab);
  }

  /** Moves the records that are still in this slab to the newest one. */
  function empty(index: number, slab: Slab): void {
    for (let at = 0; at < slab.end; ) {
      const bytes = sizeAt(slab.bytes, at);
      const record = slab.bytes.readUInt32LE(at);
      if (places.get(record) === index * PLACES_PER_SLAB + at / UNIT) {
        const place = reserve(bytes);
        slab.bytes.copy(slabAt(place).bytes, offsetOf(place), at, at + bytes);
        places.set(record, place);
      }
      at += bytes;
    }
    slabs[index] = undefined;
  }

  function add(record: number, hash: number): void {
    const mask = slots.length - 1;
    let slot = hash & mask;
    while (slots[slot] !== 0) slot = (slot + 1) & mask;
    slots[slot] = record + 1;
  }

  function grow(): void {
    const before = slots;
    slots = new Uint32Array(before.length * 2);
    for (const found of before) if (found !== 0) add(found - 1, hashes.get(found - 1));
  }

  /** Records behind the gap move up, so that a search may stop at the first empty slot. */
  function takeOut(record: number): void {
    const mask = slots.length - 1;
    let gap = hashes.get(record) & mask;
    while (slots[gap] !== record + 1) gap = (gap + 1) & mask;
    for (let slot = (gap + 1) & mask; ; slot = (slot + 1) & mask) {
      const found = slots[slot] ?? 0;
      if (found === 0) break;
      const home = hashes.get(found - 1) & mask;
      if (((slot - home) & mask) < ((slot - gap) & mask)) continue;
      slots[gap] = found;
      gap = slot;
    }
    slots[gap] = 0;
  }

  function textAt(record: number, isKey: boolean): string {
    const place = places.get(record);
    const { bytes } = slabAt(place);
    const at = offsetOf(place) + HEADER_BYTES;
    const keyEnd = at + bytes.readUInt32LE(at - 8);
    if (isKey) return bytes.toString('utf8', at, keyEnd);
    return bytes.toString('utf8', keyEnd, keyEnd + bytes.readUInt32LE(at - 4));
  }

  return {
    find: (key) => findPrepared(prepare(key)),
    put(key, text) {
      const hash = prepare(key);
      const before = findPrepared(hash);
      if (before !== NO_RECORD) {
        const place = places.get(before);
        write(before, text);
        waste(place);
        return before;
      }
      if (size + 1 > slots.length * MOST_LOAD) grow();
      const record = free.pop() ?? records++;
      size += 1;
      hashes.set(record, hash);
      write(record, text);
      add(record, hash);
      return record;
    },
    remove(key) {
      const record = findPrepared(prepare(key));
      if (record === NO_RECORD) return;
      takeOut(record);
      const place = places.get(record);
      places.set(record, NOWHERE);
      waste(place);
      free.push(record);
      size -= 1;
    },
    keyOf: (record) => textAt(record, true),
    textOf: (record) => textAt(record, false),
    size: () => size,
    slabBytes: () => slabs.reduce((sum, slab) => sum + (slab?.bytes.length ?? 0), 0),
  };
}

/** No slab has so high a number. */
const NOWHERE = 2 ** 32 - 1;

function offsetOf(place: number): number {
  return (place % PLACES_PER_SLAB) * UNIT;
}

function sizeAt(bytes: Buffer, at: number): number {
  return roundUp(HEADER_BYTES + bytes.readUInt32LE(at + 4) + bytes.readUInt32LE(at + 8));
}

function roundUp(bytes: number): number {
  return Math.ceil(bytes / UNIT) * UNIT;
}

/** FNV-1a from a secret seed; the last step spreads it over the low bits, which choose the slot. */
function hashOf(bytes: Buffer, end: number, seed: number): number {
  let hash = seed;
  for (let at = 0; at < end; at += 1) hash = Math.imul(hash ^ (bytes[at] ?? 0), 0x01000193);
  hash ^= hash >>> 15;
  return Math.imul(hash, 0x2c1b3c6d) >>> 0;
}
