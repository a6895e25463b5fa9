import assert from 'node:assert/strict';
import { test } from 'node:test';
import { makeSecret, secretProblem } from './secret.ts';

test('a secret that was made here is 32 random bytes in the form of Standard Webhooks', () => {
  assert.equal(
    makeSecret((bytes) => bytes.fill(255)),
    `whsec_${'/'.repeat(42)}8=`,
  );
  const secret = makeSecret();
  assert.equal(secretProblem(secret), undefined);
  assert.notEqual(secret, makeSecret());
});

test('a pasted secret that cannot be used says why', () => {
  assert.match(secretProblem('short') ?? '', /at least 8/);
  assert.match(secretProblem('whsec_not base64') ?? '', /base64/);
  assert.match(secretProblem('x'.repeat(501)) ?? '', /at most 500/);
  assert.equal(secretProblem('made by hand'), undefined);
});
