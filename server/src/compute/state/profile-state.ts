/**
 * The state of one profile: facts (measures, tiles, traits, groups, message ids), which follow from the set of its events in any order, and
 * held values with the time of the last evaluation. Bytes stay packed until something looks at them: an event touches few measures.
 */
import {
  byteReader,
  gatherBytes,
  type ByteWriter,
  readNumber,
  readPacked,
  type PackedPart,
  writeNumber,
  writeSized,
  writePacked,
} from './bytes.ts';
import { readTime, writeTime } from './buckets.ts';
import { type Groups, readGroups, writeGroups } from './groups.ts';
import { emptyMeasure, isEmptyMeasure, type Measure, type MeasureForm, readMeasure, writeMeasure } from './measure.ts';
import { readSeen, type SeenIds, seenIds, writeSeen } from './seen-ids.ts';
import { readHeldValues, type HeldValue, writeHeldValues } from './held-values.ts';
import { noTiles, readTiles, type Tiles, writeTiles } from './tiles.ts';
import { readTraits, type Traits, writeTraits } from './traits.ts';

/** The first byte of every state. A process refuses a state of a newer format: it could only lose what it does not know. */
const FORMAT = 1;

/** One measure of a profile by its slot: its content, else the bytes of it. */
export type MeasureRecord = PackedPart & { slot: number; measure: Measure | undefined; resolutionMs: number };

export type ProfileState = {
  /** In milliseconds; it never goes back. 0: never evaluated. */
  evaluatedAt: number;
  /** The version of the definitions at the last evaluation. */
  planVersion: number;
  held: HeldValue[];
  /** Sorted by slot. */
  records: MeasureRecord[];
  seen: SeenIds;
  tiles: Tiles;
  traits: Traits | PackedPart;
  groups: Groups | PackedPart;
};

const NO_BYTES: PackedPart = { bytes: Buffer.alloc(0), start: 0, end: 0 };

export class NewerState extends Error {
  override readonly name = 'NewerState';
}

export function emptyState(): ProfileState {
  return {
    evaluatedAt: 0,
    planVersion: 0,
    held: [],
    records: [],
    seen: seenIds(),
    tiles: noTiles(),
    traits: new Map(),
    groups: new Map(),
  };
}

export function decodeState(bytes: Uint8Array): ProfileState {
  const from = byteReader(bytes);
  const format = readNumber(from);
  if (format !== FORMAT)
    throw new NewerState(`The state of a profile has format ${format}: this version reads ${FORMAT}`);
  const evaluatedAt = readTime(from);
  const planVersion = readNumber(from);
  const held = readHeldValues(from);
  const records: MeasureRecord[] = [];
  const end = readNumber(from) + from.at;
  while (from.at < end) {
    const slot = readNumber(from);
    const length = readNumber(from);
    const start = from.at;
    from.at += length;
    records.push({ slot, bytes: from.bytes, start, end: from.at, measure: undefined, resolutionMs: 0 });
  }
  const seen = readSeen(from);
  const tiles = readTiles(from);
  return {
    evaluatedAt,
    planVersion,
    held,
    records,
    seen,
    tiles,
    traits: readPacked(from),
    groups: readPacked(from),
  };
}

export function encodeState(state: ProfileState): Uint8Array {
  return gatherBytes((to) => {
    writeNumber(to, FORMAT);
    writeTime(to, state.evaluatedAt);
    writeNumber(to, state.planVersion);
    writeHeldValues(to, state.held);
    writeFacts(to, state);
  });
}

/** The state without its facts. The values that were told stay, with their sequences. */
export function withoutFacts(state: Uint8Array): { bytes: Uint8Array; evaluatedAt: number } {
  const { evaluatedAt, planVersion, held } = decodeState(state);
  return { bytes: encodeState({ ...emptyState(), evaluatedAt, planVersion, held }), evaluatedAt };
}

/** The part of the bytes that is the same for the same events in any order. */
export function encodeFacts(state: ProfileState): Uint8Array {
  return gatherBytes((to) => writeFacts(to, state));
}

function writeFacts(to: ByteWriter, { records, seen, tiles, traits, groups }: ProfileState): void {
  writeSized(to, () => {
    for (const record of records) writeRecord(to, record);
  });
  writeSeen(to, seen);
  writeTiles(to, tiles);
  writeSized(to, () =>
    'start' in traits ? writePacked(to, traits.bytes, traits.start, traits.end) : writeAllTraits(to, traits),
  );
  writeSized(to, () =>
    'start' in groups ? writePacked(to, groups.bytes, groups.start, groups.end) : writeGroups(to, groups),
  );
}

function writeAllTraits(to: ByteWriter, traits: Traits): void {
  if (traits.size > 0) writeTraits(to, traits);
}

function writeRecord(to: ByteWriter, { slot, bytes, start, end, measure, resolutionMs }: MeasureRecord): void {
  if (measure === undefined) {
    writeNumber(to, slot);
    writeNumber(to, end - start);
    writePacked(to, bytes, start, end);
  } else if (!isEmptyMeasure(measure)) {
    writeNumber(to, slot);
    writeSized(to, () => writeMeasure(to, measure, resolutionMs));
  }
}

function placeOfSlot(records: readonly MeasureRecord[], slot: number): number {
  let low = 0;
  let high = records.length;
  while (low < high) {
    const middle = (low + high) >>> 1;
    if ((records[middle]?.slot ?? 0) < slot) low = middle + 1;
    else high = middle;
  }
  return low;
}

/** The content of a measure; undefined where the profile has none. */
export function findMeasure(state: ProfileState, slot: number, form: MeasureForm): Measure | undefined {
  const record = state.records[placeOfSlot(state.records, slot)];
  return record?.slot === slot ? unpackRecord(record, form) : undefined;
}

export function unpackRecord(record: MeasureRecord, form: MeasureForm): Measure {
  if (record.measure !== undefined) return record.measure;
  record.measure = readMeasure({ bytes: record.bytes, at: record.start }, form, record.end);
  record.resolutionMs = form.resolutionMs;
  return record.measure;
}

export function measureFor(state: ProfileState, slot: number, form: MeasureForm): Measure {
  const place = placeOfSlot(state.records, slot);
  const found = state.records[place];
  if (found?.slot === slot) return unpackRecord(found, form);
  const measure = emptyMeasure(form.kind);
  state.records.splice(place, 0, { slot, ...NO_BYTES, measure, resolutionMs: form.resolutionMs });
  return measure;
}

export function traitsOf(state: ProfileState): Traits {
  const { traits } = state;
  if (!('start' in traits)) return traits;
  const unpacked: Traits =
    traits.end === traits.start ? new Map() : readTraits({ bytes: traits.bytes, at: traits.start }, traits.end);
  state.traits = unpacked;
  return unpacked;
}

export function groupsOf(state: ProfileState): Groups {
  const { groups } = state;
  if (!('start' in groups)) return groups;
  const unpacked = readGroups({ bytes: groups.bytes, at: groups.start }, groups.end);
  state.groups = unpacked;
  return unpacked;
}
