import { builtin } from './builtin.ts';
import type { PostBody } from './post.ts';

/** Below this a compressed body is hardly shorter. */
const WORTH_COMPRESSING_BYTES = 1_024;

/**
 * Calls repeat their keys, so that a quick level with a short memory already takes nine tenths away; the usual memory of
 * 256 KiB for each request would keep the garbage collector busy.
 */
const SETTINGS = { level: 3, windowBits: 13, memLevel: 6 };

const encodes = new TextEncoder();

/** The body as it is sent, the same bytes for every try. */
export function compress(text: string, bytes: number): PostBody | Promise<PostBody> {
  if (bytes <= WORTH_COMPRESSING_BYTES) return { body: text, isGzip: false };
  const zlib = builtin('node:zlib');
  if (zlib !== undefined) return { body: zlib.gzipSync(text, SETTINGS), isGzip: true };
  return typeof CompressionStream === 'undefined' ? { body: text, isGzip: false } : compressStream(text);
}

async function compressStream(text: string): Promise<PostBody> {
  const stream = new Blob([encodes.encode(text)]).stream().pipeThrough(new CompressionStream('gzip'));
  return { body: new Uint8Array(await new Response(stream).arrayBuffer()), isGzip: true };
}
