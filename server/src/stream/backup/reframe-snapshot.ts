/**
 * Takes a snapshot of NATS apart and frames it anew in small pieces.
 *
 * A snapshot is an S2 stream (github.com/klauspost/compress/s2, an extension of Snappy's framing) of blocks of up to a megabyte. NATS
 * gives up on a restore in which one piece is under way for more than five seconds, and with `sync_interval: always` it syncs each
 * message of a stream with one replica: a block of a thousand small messages takes longer than that on a slow disk. Here each block is
 * unpacked and sent on in uncompressed frames of 32 KiB.
 */
const PIECE_BYTES = 32 * 1_024;
const FRAME = { compressed: 0x00, plain: 0x01, identifier: 0xff } as const;
/** Frames from here on may be skipped by readers that do not know them. */
const SKIPPABLE = 0x80;
const MAX_BLOCK_BYTES = 4 * 1_024 * 1_024;
const IDENTIFIER = Buffer.from([0xff, 0x06, 0x00, 0x00, ...Buffer.from('S2sTwO')]);

export class SnapshotError extends Error {
  override readonly name = 'SnapshotError';
}

/** Frames that NATS takes, each small enough to be stored in time; throws SnapshotError when the bytes are no whole snapshot. */
export async function* reframeSnapshot(chunks: AsyncIterable<Uint8Array>): AsyncGenerator<Uint8Array> {
  yield IDENTIFIER;
  for await (const block of readBlocks(chunks)) {
    for (let at = 0; at < block.length; at += PIECE_BYTES) yield frameOf(block.subarray(at, at + PIECE_BYTES));
  }
}

/** The content of a snapshot, block by block. */
export async function* readBlocks(chunks: AsyncIterable<Uint8Array>): AsyncGenerator<Buffer> {
  let rest = Buffer.alloc(0);
  for await (const chunk of chunks) {
    rest = rest.length === 0 ? Buffer.from(chunk) : Buffer.concat([rest, chunk]);
    let at = 0;
    for (; rest.length - at >= 4; ) {
      const size = rest.readUIntLE(at + 1, 3);
      if (rest.length - at < 4 + size) break;
      const block = blockOf(rest[at] ?? 0, rest.subarray(at + 4, at + 4 + size));
      if (block !== undefined) yield block;
      at += 4 + size;
    }
    rest = rest.subarray(at);
  }
  if (rest.length > 0) throw new SnapshotError('the snapshot ends in the middle of a frame');
}

function blockOf(type: number, frame: Buffer): Buffer | undefined {
  if (type === FRAME.identifier || type >= SKIPPABLE) return undefined;
  if (type !== FRAME.compressed && type !== FRAME.plain)
    throw new SnapshotError(`the snapshot has a frame of type ${type}`);
  if (frame.length < 4) throw new SnapshotError('the snapshot has a frame that is too short');
  const data = type === FRAME.plain ? frame.subarray(4) : unpack(frame.subarray(4));
  if (frame.readUInt32LE(0) !== maskedCrc(data)) throw new SnapshotError('a checksum inside the snapshot is wrong');
  return data;
}

/** One S2 block: a length, then literals and copies of bytes that came before. */
function unpack(source: Buffer): Buffer {
  let at = 0;
  let size = 0;
  for (let shift = 0, byte = 0x80; (byte & 0x80) !== 0; shift += 7, at += 1) {
    byte = byteAt(source, at);
    size += (byte & 0x7f) * 2 ** shift;
  }
  if (size > MAX_BLOCK_BYTES) throw new SnapshotError('the snapshot has a block that is too large');
  const target = Buffer.allocUnsafe(size);
  let end = 0;
  let offset = 0;
  while (at < source.length) {
    const tag = byteAt(source, at);
    const kind = tag & 3;
    if (kind === 0) {
      const literal = readLiteral(source, at);
      if (literal.from + literal.length > source.length || end + literal.length > size)
        throw new SnapshotError('a literal is too long');
      source.copy(target, end, literal.from, literal.from + literal.length);
      end += literal.length;
      at = literal.from + literal.length;
      continue;
    }
    const copy = readCopy(source, at, offset);
    ({ offset } = copy);
    copyBack(target, { end, size, ...copy });
    end += copy.length;
    at = copy.next;
  }
  if (end !== size) throw new SnapshotError('a block is shorter than it says');
  return target;
}

function readLiteral(source: Buffer, at: number): { from: number; length: number } {
  const short = byteAt(source, at) >> 2;
  if (short < 60) return { from: at + 1, length: short + 1 };
  const bytes = short - 59;
  if (at + 1 + bytes > source.length) throw new SnapshotError('a literal is cut off');
  return { from: at + 1 + bytes, length: source.readUIntLE(at + 1, bytes) + 1 };
}

type Copy = { offset: number; length: number; next: number };

/** An offset of zero in the short form repeats the last one, with a length of up to three bytes more. */
function readCopy(source: Buffer, at: number, last: number): Copy {
  const tag = byteAt(source, at);
  if ((tag & 3) === 2)
    return { offset: byteAt(source, at + 1) | (byteAt(source, at + 2) << 8), length: 1 + (tag >> 2), next: at + 3 };
  if ((tag & 3) === 3) {
    byteAt(source, at + 4);
    return { offset: source.readUInt32LE(at + 1), length: 1 + (tag >> 2), next: at + 5 };
  }
  const offset = ((tag & 0xe0) << 3) | byteAt(source, at + 1);
  const length = (tag >> 2) & 7;
  if (offset !== 0) return { offset, length: length + 4, next: at + 2 };
  const more = Math.max(0, length - 4);
  if (more === 0) return { offset: last, length: length + 4, next: at + 2 };
  byteAt(source, at + 1 + more);
  const added = [4, 1 << 8, 1 << 16][more - 1] ?? 0;
  return { offset: last, length: source.readUIntLE(at + 2, more) + added + 4, next: at + 2 + more };
}

/** A copy may reach into the bytes that it writes itself. */
function copyBack(target: Buffer, { offset, length, end, size }: Copy & { end: number; size: number }): void {
  if (offset === 0 || offset > end || end + length > size) throw new SnapshotError('a copy reaches out of its block');
  if (offset >= length) target.copyWithin(end, end - offset, end - offset + length);
  else for (let i = 0; i < length; i += 1) target[end + i] = target[end + i - offset] ?? 0;
}

function byteAt(source: Buffer, at: number): number {
  const byte = source[at];
  if (byte === undefined) throw new SnapshotError('a block is cut off');
  return byte;
}

function frameOf(data: Buffer): Buffer {
  const frame = Buffer.allocUnsafe(8 + data.length);
  frame[0] = FRAME.plain;
  frame.writeUIntLE(data.length + 4, 1, 3);
  frame.writeUInt32LE(maskedCrc(data), 4);
  data.copy(frame, 8);
  return frame;
}

const CRC_TABLE = Uint32Array.from({ length: 256 }, (_, byte) => {
  let crc = byte;
  for (let bit = 0; bit < 8; bit += 1) crc = (crc & 1) === 1 ? (crc >>> 1) ^ 0x82f63b78 : crc >>> 1;
  return crc;
});

/** CRC-32C, rotated and moved as Snappy does, so that a checksum of checksums is a good one. */
function maskedCrc(data: Uint8Array): number {
  let crc = 0xffffffff;
  for (const byte of data) crc = (crc >>> 8) ^ (CRC_TABLE[(crc ^ byte) & 0xff] ?? 0);
  crc = ~crc >>> 0;
  return (((crc >>> 15) | (crc << 17)) + 0xa282ead8) >>> 0;
}
