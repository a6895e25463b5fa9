/**
 * Arrays of parameters in PostgreSQL's binary format. The driver writes a JavaScript array as text, where a byte of a state becomes two
 * digits and every value is escaped and parsed again; a Buffer is sent as it is.
 */
import { storable } from '../record-text.ts';

const OIDS = { bool: 16, bytea: 17, int8: 20, int4: 23, text: 25, uuid: 2950 } as const;
const HEADER_BYTES = 20;
const UUID_BYTES = 16;
const TWO_TO_32 = 2 ** 32;

/** Keys of 32 hex digits. */
export function uuidArray(keys: readonly string[]): Buffer {
  const { buffer, at: start } = fixedArray('uuid', keys.length, UUID_BYTES);
  let at = start;
  for (const key of keys) {
    at = buffer.writeInt32BE(UUID_BYTES, at);
    at += buffer.write(key, at, 'hex');
  }
  return buffer;
}

export function int4Array(values: readonly number[]): Buffer {
  const { buffer, at: start } = fixedArray('int4', values.length, 4);
  let at = start;
  for (const value of values) {
    at = buffer.writeInt32BE(4, at);
    at = buffer.writeInt32BE(value, at);
  }
  return buffer;
}

export function boolArray(values: readonly boolean[]): Buffer {
  const { buffer, at: start } = fixedArray('bool', values.length, 1);
  let at = start;
  for (const value of values) {
    at = buffer.writeInt32BE(1, at);
    at = buffer.writeUInt8(value ? 1 : 0, at);
  }
  return buffer;
}

/** Whole numbers; undefined is NULL. */
export function int8Array(values: readonly (number | undefined)[]): Buffer {
  const nulls = values.reduce<number>((count, value) => (value === undefined ? count + 1 : count), 0);
  const buffer = Buffer.allocUnsafe(HEADER_BYTES + values.length * 12 - nulls * 8);
  let at = writeHeader(buffer, 'int8', values.length);
  for (const value of values) {
    if (value === undefined) {
      at = buffer.writeInt32BE(-1, at);
      continue;
    }
    at = buffer.writeInt32BE(8, at);
    at = buffer.writeInt32BE(Math.floor(value / TWO_TO_32), at);
    at = buffer.writeUInt32BE(value >>> 0, at);
  }
  return buffer.subarray(0, at);
}

export function byteaArray(values: readonly Uint8Array[]): Buffer {
  const bytes = values.reduce((sum, value) => sum + 4 + value.length, HEADER_BYTES);
  const buffer = Buffer.allocUnsafe(bytes);
  let at = writeHeader(buffer, 'bytea', values.length);
  for (const value of values) {
    at = buffer.writeInt32BE(value.length, at);
    buffer.set(value, at);
    at += value.length;
  }
  return buffer;
}

/** Undefined is NULL. */
export function textArray(values: readonly (string | undefined)[]): Buffer {
  const texts = values.map((value) => (value === undefined ? undefined : storable(value)));
  const bytes = texts.reduce((sum, text) => sum + 4 + (text === undefined ? 0 : Buffer.byteLength(text)), HEADER_BYTES);
  const buffer = Buffer.allocUnsafe(bytes);
  let at = writeHeader(buffer, 'text', texts.length);
  for (const text of texts) {
    const length = text === undefined ? -1 : buffer.write(text, at + 4);
    buffer.writeInt32BE(length, at);
    at += 4 + Math.max(length, 0);
  }
  return buffer;
}

function fixedArray(type: keyof typeof OIDS, length: number, bytes: number): { buffer: Buffer; at: number } {
  const buffer = Buffer.allocUnsafe(HEADER_BYTES + length * (4 + bytes));
  return { buffer, at: writeHeader(buffer, type, length) };
}

/** One dimension that begins at 1; the second word says that there may be NULLs. */
function writeHeader(buffer: Buffer, type: keyof typeof OIDS, length: number): number {
  buffer.writeInt32BE(1, 0);
  buffer.writeInt32BE(1, 4);
  buffer.writeInt32BE(OIDS[type], 8);
  buffer.writeInt32BE(length, 12);
  return buffer.writeInt32BE(1, 16);
}
