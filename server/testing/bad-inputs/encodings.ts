/** Bodies that are compressed, claim to be, or say so in a way we do not take. */
import { brotliCompressSync, deflateSync, gzipSync, zstdCompressSync } from 'node:zlib';
import { BATCH, batchOf, type BodyCase, track } from './body-case.ts';

const GZIP = { 'Content-Encoding': 'gzip' };
const CALL = track('');
const SMALL = gzipSync(CALL);
const EMPTY = gzipSync('');
/** 10 MB of zeros in 10 KB. */
const BOMB = gzipSync(Buffer.alloc(10_000_000));

export const ENCODINGS: BodyCase[] = [
  { name: 'gzip is inflated', headers: GZIP, body: SMALL, status: 200 },
  { name: 'the name of gzip may be in capitals', headers: { 'Content-Encoding': 'GZIP' }, body: SMALL, status: 200 },
  { name: 'x-gzip is gzip', headers: { 'Content-Encoding': 'x-gzip' }, body: SMALL, status: 200 },
  { name: 'identity is no encoding', headers: { 'Content-Encoding': 'identity' }, body: CALL, status: 200 },
  {
    name: '500 MB in 510 KB of gzip stop at the limit',
    path: BATCH,
    headers: GZIP,
    body: Buffer.concat(Array.from({ length: 50 }, () => BOMB)),
    status: 413,
    code: 'payload_too_large',
  },
  {
    name: 'a small bomb of gzip stops at the limit of a call',
    headers: GZIP,
    body: BOMB,
    status: 413,
    code: 'payload_too_large',
  },
  {
    name: 'a call that inflates to 32,769 bytes is too large',
    headers: GZIP,
    body: gzipSync(CALL.padEnd(32_769)),
    status: 413,
    code: 'payload_too_large',
  },
  {
    name: 'a call that inflates to 32,768 bytes is taken',
    headers: GZIP,
    body: gzipSync(CALL.padEnd(32_768)),
    status: 200,
  },
  {
    name: 'a batch that inflates to 512,000 bytes is taken',
    path: BATCH,
    headers: GZIP,
    body: gzipSync(batchOf(CALL).padEnd(512_000)),
    status: 200,
  },
  {
    name: 'two members of gzip are one body',
    headers: GZIP,
    body: Buffer.concat([gzipSync(CALL.slice(0, 20)), gzipSync(CALL.slice(20))]),
    status: 200,
    stored: { event: '"E"' },
  },
  {
    name: 'two members of gzip are counted together',
    headers: GZIP,
    body: Buffer.concat([gzipSync(CALL), gzipSync(' '.repeat(32_768))]),
    status: 413,
    code: 'payload_too_large',
  },
  {
    name: '20,000 empty members of gzip before a call are no harm',
    path: BATCH,
    headers: GZIP,
    body: Buffer.concat([...Array.from({ length: 20_000 }, () => EMPTY), gzipSync(batchOf(CALL))]),
    status: 200,
  },
  {
    name: 'garbage after gzip is refused',
    headers: GZIP,
    body: Buffer.concat([SMALL, Buffer.from('garbage')]),
    status: 400,
    code: 'malformed_json',
  },
  {
    name: 'gzip cut short is refused',
    headers: GZIP,
    body: SMALL.subarray(0, -9),
    status: 400,
    code: 'malformed_json',
  },
  {
    name: 'gzip with a wrong checksum is refused',
    headers: GZIP,
    body: wrongChecksum(SMALL),
    status: 400,
    code: 'malformed_json',
  },
  { name: 'gzip of nothing is refused', headers: GZIP, body: EMPTY, status: 400, code: 'malformed_json' },
  { name: 'nothing that claims to be gzip is refused', headers: GZIP, body: '', status: 400, code: 'malformed_json' },
  { name: 'gzip in gzip is not JSON', headers: GZIP, body: gzipSync(SMALL), status: 400, code: 'malformed_json' },
  {
    name: 'deflate that claims to be gzip is refused',
    headers: GZIP,
    body: deflateSync(CALL),
    status: 400,
    code: 'malformed_json',
  },
  { name: 'gzip that does not say so is not JSON', body: SMALL, status: 400, code: 'malformed_json' },
  unsupported('br', brotliCompressSync(CALL)),
  unsupported('deflate', deflateSync(CALL)),
  unsupported('zstd', zstdCompressSync(CALL)),
  unsupported('compress', Buffer.from(CALL)),
  unsupported('gzip, gzip', gzipSync(SMALL)),
  unsupported('gzip, identity', SMALL),
];

function unsupported(encoding: string, body: Buffer): BodyCase {
  return {
    name: `the encoding ${encoding} is not supported`,
    headers: { 'Content-Encoding': encoding },
    body,
    status: 415,
    code: 'unsupported_encoding',
  };
}

function wrongChecksum(gzip: Buffer): Buffer {
  const wrong = Buffer.from(gzip);
  wrong.writeUInt32LE(0, wrong.length - 8);
  return wrong;
}
