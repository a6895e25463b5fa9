import assert from 'node:assert/strict';
import { suite, test } from 'node:test';
import { MAC_BYTES, openEntrySigner } from './sign-entry.ts';

const key = (fill: string) => Buffer.alloc(32, fill);
const signer = openEntrySigner(new Map([[1, key('a')], [2, key('b')]])); // biome-ignore format: short
const KEY = 'destination.dst_1';
const VALUE = JSON.stringify({ id: 'dst_1', settings: { targets: [{ url: 'https://a.example/' }] } });
const put = (text: string, at = KEY) => ({ key: at, text, isDeletion: false });

suite('a signed config entry', () => {
  test('is authentic, is JSON that has what was there before, and is longer by no more than allowed', () => {
    const text = signer.sign(KEY, VALUE);
    assert.equal(signer.check(put(text)), 'authentic');
    const { mac, ...rest } = JSON.parse(text) as Record<string, unknown>;
    assert.equal(JSON.stringify(rest), VALUE);
    assert.match(String(mac), /^2:/, 'the last key of the ring signs');
    assert.ok(text.length - VALUE.length <= MAC_BYTES);
    assert.equal(signer.sign(KEY, VALUE), text, 'the same row gives the same text');
  });

  test('is forged as soon as one byte, its key or its operation is another', () => {
    const text = signer.sign(KEY, VALUE);
    const forgeries = [
      put(text.replace('a.example', 'b.example')),
      put(text, 'destination.dst_2'),
      put(text, 'source.dst_1'),
      { ...put(text), isDeletion: true },
      put(`${text.slice(0, -1)},"mac":"2:${'A'.repeat(43)}"}`),
      put(text.replace('"mac":"2:', '"mac":"1:')),
      put(text.replace('"mac":"2:', '"mac":"9:')),
      put(signer.sign(KEY, undefined)),
    ];
    assert.deepEqual(new Set(forgeries.map(signer.check)), new Set(['forged']));
    for (let index = 0; index < VALUE.length - 1; index += 1) {
      const changed = `${text.slice(0, index)}\u0001${text.slice(index + 1)}`;
      assert.notEqual(signer.check(put(changed)), 'authentic', `byte ${index}`);
    }
  });

  test('is unsigned without a MAC at its very end', () => {
    const text = signer.sign(KEY, VALUE);
    const mac = /,"mac":.*\}$/.exec(text)?.[0] ?? '';
    for (const other of [VALUE, '', '{}', `${text} `, `{"x":1${mac.slice(0, -1)},"url":"b"}`]) {
      assert.equal(signer.check(put(other)), 'unsigned', other);
    }
  });

  test('is checked with any key of the ring and with no other', () => {
    const older = openEntrySigner(new Map([[1, key('a')]]));
    assert.equal(signer.check(put(older.sign(KEY, VALUE))), 'authentic');
    assert.equal(older.check(put(signer.sign(KEY, VALUE))), 'forged');
    const stranger = openEntrySigner(new Map([[2, key('c')]]));
    assert.equal(signer.check(put(stranger.sign(KEY, VALUE))), 'forged');
  });

  test('is authentic as a deletion too, and only of that entry', () => {
    const text = signer.sign(KEY, undefined);
    assert.equal(signer.check({ key: KEY, text, isDeletion: true }), 'authentic');
    assert.equal(signer.check({ key: 'destination.dst_2', text, isDeletion: true }), 'forged');
    assert.equal(signer.check({ key: KEY, text: '', isDeletion: true }), 'unsigned');
  });
});
