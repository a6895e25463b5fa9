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

  test('takes out values with spaces, escaped JSON, whole headers, and every cookie', () => {
    const mask = openMask([]);
    for (const text of [
      String.raw`sent {\"password\":\"hidden-1\"} to it`,
      String.raw`{"msg":"sent {\"password\":\"a hidden-1\"}"}`,
      JSON.stringify({ msg: JSON.stringify({ deep: JSON.stringify({ apiKey: 'a "hidden-1' }) }) }),
      '{"password":"two hidden-1"}',
      '{"secrets":["a hidden-1"],"n":1}',
      "password='two hidden-1'",
      'password: two hidden-1',
      'authorization: wk_hidden-1',
      '{"headers":{"authorization":"wk_hidden-1"}}',
      'cookie: one=first; two=hidden-1',
      '{"cookie":"one=first; two=hidden-1"}',
      'postgres://owner:a@hidden-1@db/millrace',
      'postgres://owner:a,hidden-1@db/millrace',
      'NATS_PASSWORD_BACKUP=hidden-1',
      'SIGNING_KEY_2=hidden-1',
      '{"NATS_PASSWORD_BACKUP":"hidden-1"}',
      '[{"token": "a\\nhidden-1"}]',
    ]) {
      assert.doesNotMatch(mask(text), /hidden-1/, text);
    }
    assert.equal(mask('a cookie: x=1\nsecond line'), 'a cookie: ***\nsecond line');
    assert.equal(
      mask('{"level":30,"msg":"started"}\n{"token":"x","n":1}'),
      '{"level":30,"msg":"started"}\n{"token":"***","n":1}',
    );
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
      NATS_PASSWORD_BACKUP: 'fourth',
      COMMA_URL: 'postgres://owner:fif,th@h/d',
      AT_URL: 'postgres://owner:six@th@h/d',
      LIST_URL: 'nats://a:seven@h,nats://a:eig,ht@h',
      MILLRACE_SECRETS_DIR: '/run/secrets',
    });
    for (const secret of [
      'c2VjcmV0',
      'b3RoZXI=',
      'first',
      'token-only',
      'p@ss',
      'third',
      'fourth',
      'fif,th',
      'six@th',
      'seven',
      'eig,ht',
    ])
      assert.ok(found.includes(secret), secret);
    assert.ok(!found.includes('/run/secrets'));
    assert.ok(!found.includes('info') && !found.includes('owner'));
  });
});
