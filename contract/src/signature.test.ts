import assert from 'node:assert/strict';
import { test } from 'node:test';
import * as fc from 'fast-check';
import { signBody, signStandardWebhook, verifyBody, verifyStandardWebhook } from './signature.ts';

test('a signature verifies for its own secret and body', () => {
  fc.assert(
    fc.property(fc.string(), fc.string(), (secret, body) => {
      assert.ok(verifyBody(secret, body, signBody(secret, body)));
    }),
  );
});

test('a signature does not verify for another secret or another body', () => {
  const signature = signBody('s3cr3t', '{"a":1}');
  assert.equal(verifyBody('s3cr3T', '{"a":1}', signature), false);
  assert.equal(verifyBody('s3cr3t', '{"a": 1}', signature), false);
});

test('whatever is given as a signature is refused and never throws, unless it is the one', () => {
  const signature = signBody('s3cr3t', 'body');
  const wrong = ['', signature.slice(1), `${signature}0`, signature.toUpperCase(), 'é'.repeat(20), '0'.repeat(40)];
  for (const given of wrong) assert.equal(verifyBody('s3cr3t', 'body', given), false);
  fc.assert(fc.property(fc.string({ unit: 'binary' }), (given) => !verifyBody('s3cr3t', 'body', given)));
});

test('a receiver that knows either secret finds its signature while secrets rotate', () => {
  const delivery = { id: 'dlv_1', timestampSeconds: 1_794_701_326, body: '{}' };
  const both = signStandardWebhook(['new', 'old'], delivery).split(' ');
  assert.deepEqual(both, [signStandardWebhook(['new'], delivery), signStandardWebhook(['old'], delivery)]);
});

test('webhook-signature verifies with either secret, and not for another id, time, body or secret', () => {
  const delivery = { id: 'dlv_1', timestampSeconds: 1_794_701_326, body: '{}' };
  const headers = { ...delivery, signature: signStandardWebhook(['new', 'old'], delivery) };
  assert.ok(verifyStandardWebhook('new', '{}', headers));
  assert.ok(verifyStandardWebhook('old', '{}', headers));
  assert.equal(verifyStandardWebhook('other', '{}', headers), false);
  assert.equal(verifyStandardWebhook('new', '{ }', headers), false);
  assert.equal(verifyStandardWebhook('new', '{}', { ...headers, id: 'dlv_2' }), false);
  assert.equal(verifyStandardWebhook('new', '{}', { ...headers, timestampSeconds: 1 }), false);
  assert.equal(verifyStandardWebhook('new', '{}', { ...headers, signature: 'v1, v1,é' }), false);
});
