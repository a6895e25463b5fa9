import assert from 'node:assert/strict';
import { argon2, randomBytes } from 'node:crypto';
import { test } from 'node:test';
import { deriveInThread, deriveInWasm } from './derive-key.ts';

for (const password of ['correct horse battery staple', 'pässwörd ✓', 'x'.repeat(200)]) {
  test(`a password of ${password.length} characters hashed on Node 22 is good on Node 24, and the other way round`, async () => {
    const asked = { password, nonce: randomBytes(16), memory: 19_456, passes: 2, parallelism: 1, tagLength: 32 };
    const [one, other] = await Promise.all([deriveInThread(argon2, asked), deriveInWasm(asked)]);
    assert.deepEqual(one, other);
  });
}
