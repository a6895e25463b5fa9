import assert from 'node:assert/strict';
import { suite, test } from 'node:test';
import { readBlocks, reframeSnapshot } from './reframe-snapshot.ts';

async function* inPieces(data: Buffer, size: number): AsyncGenerator<Uint8Array> {
  for (let at = 0; at < data.length; at += size) yield data.subarray(at, at + size);
}

const contentOf = async (frames: Buffer, size = 7) =>
  Buffer.concat(await Array.fromAsync(readBlocks(inPieces(frames, size))));

/** A compressed frame of a checksum and a block, both as hex. */
function packed(checksumAndBlock: string): Buffer {
  const data = Buffer.from(checksumAndBlock, 'hex');
  return Buffer.concat([Buffer.from([0, data.length, 0, 0]), data]);
}

suite('a snapshot that is framed anew', () => {
  test('has the same content, in small frames, whatever the pieces it comes in', async () => {
    const content = Buffer.from(Array.from({ length: 100_000 }, (_, i) => (i * 7) % 251));
    const once = Buffer.concat(await Array.fromAsync(reframeSnapshot(plainFrames(content))));
    const twice = await Array.fromAsync(reframeSnapshot(inPieces(once, 1_000)));
    assert.deepEqual(await contentOf(Buffer.concat(twice), 999), content);
    assert.ok(twice.every((frame) => frame.length <= 32 * 1_024 + 8));
  });

  test('is refused when it is cut off, damaged or of an unknown kind', async () => {
    const good = Buffer.concat(await Array.fromAsync(reframeSnapshot(plainFrames(Buffer.from('content')))));
    await assert.rejects(contentOf(good.subarray(0, -1)), /ends in the middle of a frame/);
    const damaged = Buffer.from(good);
    damaged[damaged.length - 1] = 0;
    await assert.rejects(contentOf(damaged), /checksum inside the snapshot is wrong/);
    await assert.rejects(contentOf(Buffer.from([0x02, 1, 0, 0, 0])), /frame of type 2/);
    await assert.rejects(contentOf(packed('00000000ff')), /cut off|too large/);
  });

  test('unpacks literals, copies that reach into themselves, and repeats', async () => {
    // "ab", four bytes from two back, "X", then four bytes from the same distance.
    const block = '0b046162010200580100';
    const content = 'abababXbXbX';
    const [, frame] = await Array.fromAsync(reframeSnapshot(plainFrames(Buffer.from(content))));
    const checksum = Buffer.from(frame ?? [])
      .subarray(4, 8)
      .toString('hex');
    assert.equal((await contentOf(packed(checksum + block))).toString(), content);
  });
});

/** Frames as NATS could have sent them, without compression. */
async function* plainFrames(content: Buffer): AsyncGenerator<Uint8Array> {
  const table = Uint32Array.from({ length: 256 }, (_, byte) => {
    let crc = byte;
    for (let bit = 0; bit < 8; bit += 1) crc = (crc & 1) === 1 ? (crc >>> 1) ^ 0x82f63b78 : crc >>> 1;
    return crc;
  });
  for (let at = 0; at < content.length; at += 65_536) {
    const data = content.subarray(at, at + 65_536);
    let crc = 0xffffffff;
    for (const byte of data) crc = (crc >>> 8) ^ (table[(crc ^ byte) & 0xff] ?? 0);
    crc = ~crc >>> 0;
    const header = Buffer.alloc(8);
    header[0] = 1;
    header.writeUIntLE(data.length + 4, 1, 3);
    header.writeUInt32LE((((crc >>> 15) | (crc << 17)) + 0xa282ead8) >>> 0, 4);
    yield Buffer.concat([header, data]);
  }
}
