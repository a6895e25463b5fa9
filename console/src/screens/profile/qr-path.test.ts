import assert from 'node:assert/strict';
import { test } from 'node:test';
// oxlint-disable-next-line import/extensions -- the package names it so
import { decodeQR } from 'qr/decode.js';
import { qrPath } from './qr-path.ts';

const URI =
  'otpauth://totp/millrace.example.com%3Aann%40example.com?secret=GEZDGNBVGY3TQOJQGEZDGNBVGY3TQOJQ&issuer=millrace.example.com';
const SCALE = 6;

test('a camera reads the same text from the path', () => {
  const { size, path } = qrPath(URI);
  const dark = new Set([...path.matchAll(/M(\d+) (\d+)/g)].map(([, x, y]) => `${x} ${y}`));
  const side = size * SCALE;
  const data = new Uint8Array(side * side * 4).fill(255);
  for (let at = 0; at < side * side; at += 1) {
    const module = `${Math.floor((at % side) / SCALE)} ${Math.floor(at / side / SCALE)}`;
    if (dark.has(module)) data.fill(0, at * 4, at * 4 + 3);
  }
  assert.equal(decodeQR({ width: side, height: side, data }), URI);
});
