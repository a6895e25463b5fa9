import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import { suite, test } from 'node:test';
import { hashPassword, isPassword } from '../access/password.ts';
import { openKeyRing, readKeys } from '../../secrets/seal.ts';
import { isWellFormedSecret, makeSecret } from '../access/secret-text.ts';

const PLACE = { workspaceId: 'ws_1', table: 'destinations', column: 'sharedSecret', rowId: 'dst_1' };
const KEY_1 = randomBytes(32);
const KEY_2 = randomBytes(32);

suite('a sealed value', () => {
  test('opens with the key that sealed it, also when that is no longer the newest', () => {
    const sealed = openKeyRing(new Map([[1, KEY_1]])).seal('geheim ✓', PLACE);
    const both = openKeyRing(
      new Map([
        [1, KEY_1],
        [2, KEY_2],
      ]),
    );
    assert.equal(both.open(sealed, PLACE), 'geheim ✓');
    assert.equal(both.keyIdOf(sealed), 1);
    assert.equal(both.keyIdOf(both.seal('x', PLACE)), 2);
  });

  test('opens in no other place', () => {
    const ring = openKeyRing(new Map([[1, KEY_1]]));
    const sealed = ring.seal('secret', PLACE);
    for (const change of [{ workspaceId: 'ws_2' }, { table: 't' }, { column: 'c' }, { rowId: 'dst_2' }]) {
      assert.throws(() => ring.open(sealed, { ...PLACE, ...change }));
    }
  });

  test('does not open when a single bit has changed, or with another key', () => {
    const ring = openKeyRing(
      new Map([
        [1, KEY_1],
        [2, KEY_2],
      ]),
    );
    const sealed = ring.seal('secret', PLACE);
    for (let at = 0; at < sealed.length; at += 1) {
      const changed = Buffer.from(sealed);
      changed.writeUInt8(changed.readUInt8(at) ^ 1, at);
      assert.throws(() => ring.open(changed, PLACE), `byte ${at}`);
    }
    assert.throws(() => openKeyRing(new Map([[2, KEY_1]])).open(sealed, PLACE));
    assert.throws(() => ring.open(Buffer.alloc(5), PLACE), /not a sealed value/);
  });

  test('is different each time', () => {
    const ring = openKeyRing(new Map([[1, KEY_1]]));
    assert.notDeepEqual(ring.seal('same', PLACE), ring.seal('same', PLACE));
  });
});

suite('the key ring', () => {
  test('is read from text, and says what is wrong with it', () => {
    const text = `1:${KEY_1.toString('base64')}, 2:${KEY_2.toString('base64')}`;
    assert.deepEqual(
      readKeys(text),
      new Map([
        [1, KEY_1],
        [2, KEY_2],
      ]),
    );
    assert.throws(() => readKeys('1:c2hvcnQ='), /32 bytes/);
    assert.throws(() => readKeys(`0:${KEY_1.toString('base64')}`), /1 to 65535/);
    assert.throws(() => readKeys(`1:${KEY_1.toString('base64')},1:${KEY_2.toString('base64')}`), /twice/);
  });
});

suite('a token', () => {
  test('carries a checksum that catches a slip of the hand', () => {
    const token = makeSecret('mlr');
    assert.match(token, /^mlr_[0-9A-Za-z]{43}_[0-9a-z]{7}$/);
    assert.ok(isWellFormedSecret('mlr', token));
    assert.ok(
      !isWellFormedSecret(
        'mlr',
        token.replace(/.$/, (last) => (last === 'a' ? 'b' : 'a')),
      ),
    );
    assert.ok(!isWellFormedSecret('mls', token));
    assert.notEqual(makeSecret('mlr'), token);
  });
});

suite('a password', () => {
  test('is known again by its hash, and only it', async () => {
    const stored = await hashPassword('correct horse battery staple');
    assert.match(stored, /^\$argon2id\$v=19\$m=19456,t=2,p=1\$/);
    assert.ok(await isPassword('correct horse battery staple', stored));
    assert.ok(!(await isPassword('correct horse battery stable', stored)));
    assert.ok(!(await isPassword('x', 'not a hash')));
  });
});
