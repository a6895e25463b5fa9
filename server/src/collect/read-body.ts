import type { IncomingMessage } from 'node:http';
import { gunzipSync } from 'node:zlib';
import type { RequestProblemCode } from '@millrace/contract';

export type BodyRead = { ok: true; body: Buffer } | { ok: false; code: RequestProblemCode };

/** After this much of a body that is too large we stop being polite and hang up. */
const MAX_DISCARDED_BYTES = 16_000_000;

/** Reads a body of at most `maxBytes`, both as it comes over the wire and inflated. */
export async function readBody(request: IncomingMessage, maxBytes: number): Promise<BodyRead> {
  const encoding = request.headers['content-encoding']?.toLowerCase();
  const isGzip = encoding === 'gzip' || encoding === 'x-gzip';
  if (!isGzip && encoding !== undefined && encoding !== 'identity' && encoding !== '') {
    discardRest(request);
    return { ok: false, code: 'unsupported_encoding' };
  }
  const body = await readBytes(request, maxBytes);
  if (body === undefined) return { ok: false, code: 'payload_too_large' };
  return isGzip ? inflate(body, maxBytes) : { ok: true, body };
}

/** Undefined when it is too large, which a Content-Length tells before the first byte is read. */
function readBytes(request: IncomingMessage, maxBytes: number): Promise<Buffer | undefined> {
  return new Promise((resolve, reject) => {
    const chunks: Buffer[] = [];
    let size = 0;
    if (Number(request.headers['content-length']) > maxBytes) {
      discardRest(request);
      resolve(undefined);
      return;
    }
    const take = (chunk: Buffer) => {
      size += chunk.length;
      chunks.push(chunk);
      if (size <= maxBytes) return;
      request.off('data', take);
      discardRest(request);
      resolve(undefined);
    };
    request.on('data', take);
    request.once('end', () => resolve(chunks.length === 1 ? chunks[0] : Buffer.concat(chunks, size)));
    request.once('error', reject);
  });
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
