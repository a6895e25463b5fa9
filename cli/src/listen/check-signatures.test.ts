import assert from 'node:assert/strict';
import { createHmac } from 'node:crypto';
import { suite, test } from 'node:test';
import { signBody, signStandardWebhook } from '@millrace/contract';
import { checkSignatures } from './check-signatures.ts';

const SECRET = 'a shared secret';
const ENCODED = `whsec_${Buffer.from('thirty-two bytes of a secret key').toString('base64')}`;
const BODY = '{"type":"track","event":"Größe"}';
const NOW = new Date('2026-01-01T00:00:00Z');
const SECONDS = NOW.getTime() / 1_000;

function signed(secret: string, { body = BODY, seconds = SECONDS } = {}): Record<string, string> {
  const delivery = { id: 'dlv_1', timestampSeconds: seconds, body };
  return {
    'webhook-id': 'dlv_1',
    'webhook-timestamp': String(seconds),
    'webhook-signature': signStandardWebhook([secret], delivery),
    'x-signature': signBody(secret, body),
  };
}

function check(headers: Record<string, string>, { secret = SECRET, body = BODY } = {}): [string, string] {
  const [first, second] = checkSignatures(secret, { headers, body, now: NOW });
  assert.ok(first !== undefined && second !== undefined);
  return [first.says, second.says];
}

suite('signatures of a webhook', () => {
  test('are valid as production makes them, with both kinds of secret', () => {
    for (const secret of [SECRET, ENCODED]) {
      assert.deepEqual(check(signed(secret), { secret }), ['is valid', 'is valid']);
      const results = checkSignatures(secret, { headers: signed(secret), body: BODY, now: NOW });
      assert.deepEqual(
        results.map(({ ok }) => ok),
        [true, true],
      );
    }
  });

  test('are valid while secrets rotate, when one of several fits', () => {
    const headers = signed(SECRET);
    headers['webhook-signature'] = `${signed('older')['webhook-signature']} ${headers['webhook-signature']}`;
    assert.equal(check(headers)[1], 'is valid');
  });

  test('that are missing are named', () => {
    assert.deepEqual(check({}), ['is missing', 'is missing']);
    const { 'webhook-id': _, ...rest } = signed(SECRET);
    assert.equal(check(rest)[1], 'cannot be checked: webhook-id is missing');
    assert.match(check({ ...signed(SECRET), 'webhook-timestamp': 'soon' })[1], /not in whole seconds/);
  });

  test('of another secret or a changed body say so', () => {
    const [body, standard] = check(signed('another'));
    assert.match(body, /changed on its way, or signed with another secret/);
    assert.match(standard, /changed on the way, or signed with another secret/);
  });

  test('that are too old or too new say by how much', () => {
    assert.match(check(signed(SECRET, { seconds: SECONDS - 301 }))[1], /301 s old: libraries refuse more than 300 s/);
    assert.match(check(signed(SECRET, { seconds: SECONDS + 999 }))[1], /999 s in the future/);
    assert.match(check(signed(SECRET, { seconds: NOW.getTime() }))[1], /in milliseconds and must be in seconds/);
    assert.equal(check(signed(SECRET, { seconds: SECONDS - 300 }))[1], 'is valid');
  });

  test('with a usual mistake name the mistake', () => {
    const hmac = (hash: string, form: 'hex' | 'base64') => createHmac(hash, SECRET).update(BODY).digest(form);
    const says = (given: string) => check({ ...signed(SECRET), 'x-signature': given })[0];
    assert.match(says(hmac('sha1', 'hex').toUpperCase()), /lower case/);
    assert.match(says(`sha1=${hmac('sha1', 'hex')}`), /must not begin with sha1=/);
    assert.match(says(hmac('sha1', 'base64')), /in base64, and must be in hex/);
    assert.match(says(hmac('sha256', 'hex')), /SHA-256, and must be made with SHA-1/);
    assert.match(says(signBody(SECRET, `${BODY}\n`)), /line feed after the body/);
    assert.match(says(signBody(SECRET, JSON.stringify(JSON.parse(BODY), null, 2))), /with indentation/);
    const spaced = `${BODY} `;
    assert.match(check(signed(SECRET), { body: spaced })[0], /without the white space around the body/);
    assert.match(check(signed(SECRET), { body: spaced })[1], /without the white space around the body/);
  });

  test('with the secret read in the wrong way say how to read it', () => {
    const bare = ENCODED.slice('whsec_'.length);
    const undecoded = { ...signed(ENCODED), 'webhook-signature': signed(bare)['webhook-signature'] ?? '' };
    assert.match(check(undecoded, { secret: ENCODED })[1], /must be decoded from base64/);
    const key = Buffer.from(bare, 'base64');
    const decoded = { ...signed(ENCODED), 'x-signature': createHmac('sha1', key).update(BODY).digest('hex') };
    assert.match(check(decoded, { secret: ENCODED })[0], /text of the secret with whsec_/);
    const headers = { ...signed(SECRET), 'webhook-signature': 'abc' };
    assert.match(check(headers)[1], /begins with v1,/);
  });
});
