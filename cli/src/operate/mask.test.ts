import assert from 'node:assert/strict';
import { suite, test } from 'node:test';
import { openMask, secretsIn } from './mask.ts';

suite('the mask', () => {
  test('takes known secrets out, also when they are encoded', () => {
    const mask = openMask(['pa55/word+more']);
    for (const form of [
      'pa55/word+more',
      'pa55%2Fword%2Bmore',
      Buffer.from('pa55/word+more').toString('base64'),
      Buffer.from('pa55/word+more').toString('hex'),
    ]) {
      assert.equal(mask(`before ${form} after`), 'before *** after');
    }
  });

  test('takes out secrets that it does not know, by their form', () => {
    const mask = openMask([]);
    for (const text of [
      'nats://user:hidden-1@host:4222',
      'postgres://owner:hidden-1@db/millrace',
      'Authorization: Bearer hidden-1-and-more',
      '{"authorization":"Basic hidden-1"}',
      '{"sharedSecret":"hidden-1"}',
      'password=hidden-1',
      '"writeKey": "hidden-1"',
      'http://localhost:8081/setup#token=hidden-1',
      'whsec_hidden-1',
    ]) {
      assert.doesNotMatch(mask(text), /hidden-1/, text);
    }
    assert.equal(mask('a -----BEGIN PRIVATE KEY-----\nabc\n-----END PRIVATE KEY----- b'), 'a *** b');
  });

  test('leaves plain text as it is', () => {
    const plain = 'EVENTS-0 holds 12 messages; http://127.0.0.1:8080/v1/batch answered 200';
    assert.equal(openMask([])(plain), plain);
  });

  test('finds the secrets of an environment', () => {
    const found = secretsIn({
      MILLRACE_KEYS: '1:c2VjcmV0,2:b3RoZXI=',
      MILLRACE_NATS_URL: 'nats://a:first@h:1,nats://token-only@h:2',
      MILLRACE_DATABASE_URL: 'postgres://owner:p%40ss@h/d?sslpassword=third',
      MILLRACE_LOG_LEVEL: 'info',
    });
    for (const secret of ['c2VjcmV0', 'b3RoZXI=', 'first', 'token-only', 'p@ss', 'third'])
      assert.ok(found.includes(secret), secret);
    assert.ok(!found.includes('info') && !found.includes('owner'));
  });
});
