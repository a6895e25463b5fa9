/**
 * Whole numbers in as few bytes as they need (LEB128: 7 bits a byte, least first; zigzag for those that may be negative), texts
 * with their length. Readers trust the bytes: they are ours, and PostgreSQL guards them.
 */
export type ByteWriter = { bytes: Buffer; at: number };
export type ByteReader = { bytes: Buffer; at: number };

/** A part of a state's bytes that is unpacked when it is needed; most parts are only copied. */
export type PackedPart = { bytes: Buffer; start: number; end: number };

/** A sum in whole millionths: a number while it is exact, else a bigint. One value has one form, so equal sums are equal bytes. */
export type Amount = number | bigint;

const LARGEST_ZIGZAG = 2 ** 52;

/** Bytes are gathered here and copied out when their number is known: a state is then no larger in memory than it is. */
const gathering: ByteWriter = { bytes: Buffer.allocUnsafeSlow(65_536), at: 0 };
let isGathering = false;

/** The bytes that `write` makes. */
export function gatherBytes(write: (to: ByteWriter) => void): Uint8Array {
  if (isGathering) throw new Error('Bytes are gathered one after the other');
  isGathering = true;
  try {
    gathering.at = 0;
    write(gathering);
    return Buffer.copyBytesFrom(gathering.bytes, 0, gathering.at);
  } finally {
    isGathering = false;
  }
}

export function byteReader(bytes: Uint8Array): ByteReader {
  return { bytes: Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength), at: 0 };
}

/** Makes room for so many more bytes. Every write asks for its own. */
function reserve(to: ByteWriter, more: number): void {
  if (to.at + more <= to.bytes.length) return;
  const larger = Buffer.allocUnsafe(Math.max(to.bytes.length * 2, to.at + more));
  to.bytes.copy(larger, 0, 0, to.at);
  to.bytes = larger;
}

/** A whole number from 0 to 2^53. */
export function writeNumber(to: ByteWriter, value: number): void {
  reserve(to, 8);
  let rest = value;
  while (rest >= 128) {
    to.bytes[to.at++] = (rest % 128) + 128;
    rest = rest < 2_147_483_648 ? rest >>> 7 : Math.floor(rest / 128);
  }
  to.bytes[to.at++] = rest;
}

export function readNumber(from: ByteReader): number {
  let byte = from.bytes[from.at++] ?? 0;
  if (byte < 128) return byte;
  let value = byte - 128;
  for (let factor = 128; ; factor *= 128) {
    byte = from.bytes[from.at++] ?? 0;
    if (byte < 128) return value + byte * factor;
    value += (byte - 128) * factor;
  }
}

/** A whole number from -2^52 to 2^52. */
export function writeSigned(to: ByteWriter, value: number): void {
  writeNumber(to, value < 0 ? -2 * value - 1 : 2 * value);
}

export function readSigned(from: ByteReader): number {
  const value = readNumber(from);
  return value % 2 === 0 ? value / 2 : -(value + 1) / 2;
}

export function writeAmount(to: ByteWriter, amount: Amount): void {
  if (typeof amount === 'number' && Math.abs(amount) <= LARGEST_ZIGZAG) return writeSigned(to, amount);
  const exact = BigInt(amount);
  let rest = exact < 0n ? -2n * exact - 1n : 2n * exact;
  reserve(to, 24);
  while (rest >= 128n) {
    to.bytes[to.at++] = Number(rest % 128n) + 128;
    rest /= 128n;
  }
  to.bytes[to.at++] = Number(rest);
}

/** Seven bytes hold 49 bits, for which numbers are enough. */
export function readAmount(from: ByteReader): Amount {
  let last = from.at;
  while ((from.bytes[last] ?? 0) >= 128) last += 1;
  if (last - from.at < 7) return readSigned(from);
  let value = 0n;
  for (let at = last; at >= from.at; at -= 1) value = value * 128n + BigInt((from.bytes[at] ?? 0) % 128);
  from.at = last + 1;
  return exactAmount(value % 2n === 0n ? value / 2n : -(value + 1n) / 2n);
}

export function exactAmount(value: bigint): Amount {
  const number = Number(value);
  return Number.isSafeInteger(number) ? number : value;
}

export function addAmounts(a: Amount, b: Amount): Amount {
  if (typeof a === 'number' && typeof b === 'number') {
    const sum = a + b;
    if (Number.isSafeInteger(sum)) return sum;
  }
  return exactAmount(BigInt(a) + BigInt(b));
}

/** 48 bits: the hashes of message ids and event names. */
export function writeHash(to: ByteWriter, hash: number): void {
  reserve(to, 6);
  to.bytes.writeUIntBE(hash, to.at, 6);
  to.at += 6;
}

export function readHash(from: ByteReader): number {
  const hash = from.bytes.readUIntBE(from.at, 6);
  from.at += 6;
  return hash;
}

export function writeText(to: ByteWriter, text: string): void {
  const length = Buffer.byteLength(text);
  writeNumber(to, length);
  reserve(to, length);
  to.bytes.write(text, to.at, 'utf8');
  to.at += length;
}

export function readText(from: ByteReader): string {
  const length = readNumber(from);
  const text = from.bytes.toString('utf8', from.at, from.at + length);
  from.at += length;
  return text;
}

export function writeDouble(to: ByteWriter, value: number): void {
  reserve(to, 8);
  to.bytes.writeDoubleBE(value, to.at);
  to.at += 8;
}

export function readDouble(from: ByteReader): number {
  const value = from.bytes.readDoubleBE(from.at);
  from.at += 8;
  return value;
}

/** Copies a stretch of other bytes as it is. */
export function writePacked(to: ByteWriter, source: Buffer, start: number, end: number): void {
  reserve(to, end - start);
  // A call costs more than a loop for the few bytes that most measures have.
  if (end - start < 24) for (let at = start; at < end; at += 1) to.bytes[to.at++] = source[at] ?? 0;
  else to.at += source.copy(to.bytes, to.at, start, end);
}

/** Writes the number of bytes, then the bytes that `write` makes. Nearly all are shorter than 128, whose number is one byte. */
export function writeSized(to: ByteWriter, write: () => void): void {
  reserve(to, 1);
  const start = to.at;
  to.at += 1;
  write();
  const length = to.at - start - 1;
  if (length < 128) {
    to.bytes[start] = length;
    return;
  }
  const content = Buffer.from(to.bytes.subarray(start + 1, to.at));
  to.at = start;
  writeNumber(to, length);
  writePacked(to, content, 0, length);
}

/** The next sized part, without looking into it. */
export function readPacked(from: ByteReader): PackedPart {
  const length = readNumber(from);
  const start = from.at;
  from.at += length;
  return { bytes: from.bytes, start, end: from.at };
}
