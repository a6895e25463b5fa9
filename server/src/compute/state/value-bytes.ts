import type { JsonObject, FilterValue } from '@millrace/contract';
import { AMOUNT_SCALE } from '@millrace/contract/audiences';
import {
  type ByteReader,
  type ByteWriter,
  readDouble,
  readNumber,
  readSigned,
  readText,
  writeDouble,
  writeNumber,
  writeSigned,
  writeText,
} from './bytes.ts';

/** A value as a profile keeps it. */
export type KeptValue = FilterValue | FilterValue[] | JsonObject | null;

const NULL = 0;
const FALSE = 1;
const TRUE = 2;
const WHOLE = 3;
const MILLIONTHS = 4;
const DOUBLE = 5;
const TEXT = 6;
const LIST = 7;
const FIELDS = 8;

const LARGEST_WHOLE = 2 ** 52;

export function writeValue(to: ByteWriter, value: KeptValue): void {
  if (value === null) writeNumber(to, NULL);
  else if (typeof value === 'boolean') writeNumber(to, value ? TRUE : FALSE);
  else if (typeof value === 'number') writeAnyNumber(to, value);
  else if (typeof value === 'string') {
    writeNumber(to, TEXT);
    writeText(to, value);
  } else if (Array.isArray(value)) {
    writeNumber(to, LIST);
    writeNumber(to, value.length);
    for (const each of value) writeValue(to, each);
  } else writeFields(to, value);
}

/** Prices have few decimals: as whole millionths they take half the bytes. Only if they come back the same. */
function writeAnyNumber(to: ByteWriter, value: number): void {
  const millionths = Math.round(value * AMOUNT_SCALE);
  if (Number.isInteger(value) && Math.abs(value) <= LARGEST_WHOLE) {
    writeNumber(to, WHOLE);
    writeSigned(to, value);
  } else if (Math.abs(millionths) <= LARGEST_WHOLE && millionths / AMOUNT_SCALE === value) {
    writeNumber(to, MILLIONTHS);
    writeSigned(to, millionths);
  } else {
    writeNumber(to, DOUBLE);
    writeDouble(to, value);
  }
}

function writeFields(to: ByteWriter, value: JsonObject): void {
  const fields = Object.entries(value);
  writeNumber(to, FIELDS);
  writeNumber(to, fields.length);
  for (const [name, each] of fields) {
    writeText(to, name);
    writeValue(to, each as KeptValue);
  }
}

export function readValue(from: ByteReader): KeptValue {
  switch (readNumber(from)) {
    case FALSE:
      return false;
    case TRUE:
      return true;
    case WHOLE:
      return readSigned(from);
    case MILLIONTHS:
      return readSigned(from) / AMOUNT_SCALE;
    case DOUBLE:
      return readDouble(from);
    case TEXT:
      return readText(from);
    case LIST:
      return Array.from({ length: readNumber(from) }, () => readScalar(from));
    case FIELDS:
      return Object.fromEntries(Array.from({ length: readNumber(from) }, () => [readText(from), readValue(from)]));
    default:
      return null;
  }
}

export function readScalar(from: ByteReader): FilterValue {
  const value = readValue(from);
  if (value === null || typeof value === 'object') throw new Error('A scalar was expected in a profile');
  return value;
}
