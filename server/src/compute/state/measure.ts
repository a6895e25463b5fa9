import type { ByteReader, ByteWriter } from './bytes.ts';
import { baseBucket, oldestLive } from './buckets.ts';
import {
  mergeCells,
  type NumberCells,
  numberCells,
  type NumberKind,
  pruneCells,
  readCells,
  writeCells,
} from './number-cells.ts';
import {
  mergeStamped,
  pruneStamped,
  readStamped,
  type StampedCells,
  stampedCells,
  type StampedKind,
  writeStamped,
} from './stamped-cells.ts';
import {
  mergeUnique,
  mergeValueCounts,
  pruneUnique,
  pruneValueCounts,
  readUnique,
  readValueCounts,
  type UniqueValues,
  uniqueValues,
  type ValueCounts,
  valueCounts,
  writeUnique,
  writeValueCounts,
} from './value-cells.ts';

export type MeasureKind = NumberKind | StampedKind | 'unique' | 'frequent';

/** How a measure is kept: its kind, the length of its buckets (0: one for good) and how long they are kept (Infinity: for good). */
export type MeasureForm = { kind: MeasureKind; resolutionMs: number; keepMs: number };

export type NumberMeasure = { kind: NumberKind; cells: NumberCells };
export type StampedMeasure = { kind: StampedKind; cells: StampedCells };
export type UniqueMeasure = { kind: 'unique'; values: UniqueValues };
export type FrequentMeasure = { kind: 'frequent'; values: ValueCounts };
/** The content of a measure for one profile. */
export type Measure = NumberMeasure | StampedMeasure | UniqueMeasure | FrequentMeasure;

export function emptyMeasure(kind: MeasureKind): Measure {
  switch (kind) {
    case 'count':
    case 'sum':
    case 'min':
    case 'max':
      return { kind, cells: numberCells() };
    case 'first':
    case 'last':
    case 'trait':
      return { kind, cells: stampedCells() };
    case 'unique':
      return { kind, values: uniqueValues() };
    case 'frequent':
      return { kind, values: valueCounts() };
  }
}

export function readMeasure(from: ByteReader, { kind, resolutionMs }: MeasureForm, end: number): Measure {
  const base = baseBucket(resolutionMs);
  switch (kind) {
    case 'count':
    case 'sum':
    case 'min':
    case 'max':
      return { kind, cells: readCells(from, kind, end, resolutionMs) };
    case 'first':
    case 'last':
    case 'trait':
      return { kind, cells: readStamped(from, end, resolutionMs) };
    case 'unique':
      return { kind, values: readUnique(from, end, base) };
    case 'frequent':
      return { kind, values: readValueCounts(from, end, resolutionMs) };
  }
}

export function writeMeasure(to: ByteWriter, measure: Measure, resolutionMs: number): void {
  switch (measure.kind) {
    case 'count':
    case 'sum':
    case 'min':
    case 'max':
      return writeCells(to, measure.kind, measure.cells, resolutionMs);
    case 'first':
    case 'last':
    case 'trait':
      return writeStamped(to, measure.cells);
    case 'unique':
      return writeUnique(to, measure.values, baseBucket(resolutionMs));
    case 'frequent':
      return writeValueCounts(to, measure.values, resolutionMs);
  }
}

/** Both are of the same kind; adding the events of one to the other gives the same. */
export function mergeMeasure(into: Measure, from: Measure): void {
  if (into.kind === 'unique') {
    if (from.kind === 'unique') mergeUnique(into.values, from.values);
  } else if (into.kind === 'frequent') {
    if (from.kind === 'frequent') mergeValueCounts(into.values, from.values);
  } else if (isStamped(into)) {
    if (isStamped(from)) mergeStamped(into.cells, into.kind, from.cells);
  } else if (isNumbers(from)) mergeCells(into.cells, into.kind, from.cells);
}

export function isStamped(measure: Measure): measure is StampedMeasure {
  return measure.kind === 'first' || measure.kind === 'last' || measure.kind === 'trait';
}

export function isNumbers(measure: Measure): measure is NumberMeasure {
  return measure.kind === 'count' || measure.kind === 'sum' || measure.kind === 'min' || measure.kind === 'max';
}

/** Takes away what is too old to count at this time. */
export function pruneMeasure(measure: Measure, { resolutionMs, keepMs }: MeasureForm, now: number): void {
  const oldest = oldestLive(now, keepMs, resolutionMs);
  if (oldest === Number.NEGATIVE_INFINITY) return;
  if (measure.kind === 'unique') pruneUnique(measure.values, oldest);
  else if (measure.kind === 'frequent') pruneValueCounts(measure.values, oldest);
  else if (isStamped(measure)) pruneStamped(measure.cells, oldest);
  else pruneCells(measure.cells, oldest);
}

export function isEmptyMeasure(measure: Measure): boolean {
  switch (measure.kind) {
    case 'unique':
      return measure.values.newest.size === 0 && measure.values.dropped === undefined;
    case 'frequent':
      return measure.values.counts.size === 0 && measure.values.cutoff === undefined;
    default:
      return measure.cells.buckets.length === 0;
  }
}
