import type { IncomingMessage } from 'node:http';
import { gunzipSync } from 'node:zlib';
import type { RequestProblemCode } from '@millrace/contract';

export type BodyRead = { ok: true; body: Buffer } | { ok: false; code: RequestProblemCode };

/** Counts the bytes of bodies in memory; false when there is no room for more. */
export type Hold = (bytes: number) => boolean;

/** A body in a thousand pieces would cost a thousand times a piece's overhead, so they are joined as they come. */
const MAX_PIECES = 32;

/** After this much of a body that is too large the connection is closed. */
const MAX_DISCARDED_BYTES = 16_000_000;

/** Reads a body of at most `maxBytes`, both as it comes over the wire and inflated. */
export async function readBody(request: IncomingMessage, maxBytes: number, hold: Hold): Promise<BodyRead> {
  const encoding = request.headers['content-encoding']?.toLowerCase();
  const isGzip = encoding === 'gzip' || encoding === 'x-gzip';
  if (!isGzip && encoding !== undefined && encoding !== 'identity' && encoding !== '') {
    discardRest(request);
    return { ok: false, code: 'unsupported_encoding' };
  }
  const read = await readBytes(request, maxBytes, hold);
  if (!isGzip || !read.ok) return read;
  const inflated = inflate(read.body, maxBytes);
  // The wire may have carried a thousandth of it; memory now holds all of it.
  return inflated.ok && !hold(inflated.body.length) ? { ok: false, code: 'unavailable' } : inflated;
}

function readBytes(request: IncomingMessage, maxBytes: number, hold: Hold): Promise<BodyRead> {
  return new Promise((resolve, reject) => {
    let pieces: Buffer[] = [];
    let size = 0;
    const refuse = (code: RequestProblemCode) => {
      request.off('data', take);
      pieces = [];
      discardRest(request);
      resolve({ ok: false, code });
    };
    const take = (piece: Buffer) => {
      size += piece.length;
      pieces.push(piece);
      if (size > maxBytes) return refuse('payload_too_large');
      if (!hold(piece.length)) return refuse('unavailable');
      if (pieces.length > MAX_PIECES) pieces = [Buffer.concat(pieces)];
    };
    request.once('error', reject);
    // The length tells before the first byte is read.
    if (Number(request.headers['content-length']) > maxBytes) return refuse('payload_too_large');
    request.on('data', take);
    request.once('end', () => resolve({ ok: true, body: joined(pieces) }));
  });
}

function joined(pieces: Buffer[]): Buffer {
  const [first] = pieces;
  return pieces.length === 1 && first !== undefined ? first : Buffer.concat(pieces);
}

/** The answer is already on its way: reading on lets a client that is still writing see it, instead of a reset. */
function discardRest(request: IncomingMessage): void {
  let discarded = 0;
  request.on('data', (chunk: Buffer) => {
    discarded += chunk.length;
    if (discarded > MAX_DISCARDED_BYTES) request.destroy();
  });
  request.on('error', () => undefined);
}

/** In one go: the thread pool would cost four times the CPU, and inflation stops at the limit within a millisecond. */
function inflate(body: Buffer, maxBytes: number): BodyRead {
  try {
    return { ok: true, body: gunzipSync(body, { maxOutputLength: maxBytes }) };
  } catch (error) {
    const isTooLarge = error instanceof Error && 'code' in error && error.code === 'ERR_BUFFER_TOO_LARGE';
    return { ok: false, code: isTooLarge ? 'payload_too_large' : 'malformed_json' };
  }
}
