import assert from 'node:assert/strict';
import { suite, test } from 'node:test';
import * as fc from 'fast-check';
import { signBody, signStandardWebhook } from '../../../contract/src/signature.ts';
import { caseFiles } from '../testing/contract-cases.ts';
import { WebhookVerificationError, type WebhookProblem } from './errors.ts';
import { verifySigned, verifyWebhook, verifyWebhookBatch } from './verify-webhook.ts';

const SECRET = 's3cr3t';
const NOW_SECONDS = 1_794_701_326;
const now = () => NOW_SECONDS * 1_000;
const PLAIN = { scheme: 'x-signature' } as const;
const EVENT = {
  version: 1,
  type: 'track',
  userId: 'u1',
  event: 'Größe 😀',
  properties: {},
  timestamp: 't',
  context: {},
};
const BODY = JSON.stringify(EVENT);

function standardHeaders(secrets = [SECRET], body = BODY, timestampSeconds = NOW_SECONDS): Record<string, string> {
  const signature = signStandardWebhook(secrets, { id: 'dlv_1', timestampSeconds, body });
  return { 'webhook-id': 'dlv_1', 'webhook-timestamp': String(timestampSeconds), 'webhook-signature': signature };
}

function isProblem(code: WebhookProblem): (error: unknown) => boolean {
  return (error) => error instanceof WebhookVerificationError && error.code === code;
}

suite('the signatures of contract/cases', () => {
  interface Case {
    name: string;
    scheme: 'hmac-sha1' | 'standard-webhooks';
    input: string;
    expect: string;
  }
  type Signing = { secret?: string; secrets?: string[]; id?: string; timestampSeconds?: number; body: string };
  for (const { cases } of caseFiles<Case>('signature')) {
    for (const { name, scheme, input, expect } of cases) {
      test(name, () => {
        const { id = '', timestampSeconds = 0, body, ...given } = JSON.parse(input) as Signing;
        const signature = JSON.parse(expect) as string;
        const isPlain = scheme === 'hmac-sha1';
        const headers = isPlain
          ? { 'X-Signature': signature }
          : { 'webhook-id': id, 'webhook-timestamp': String(timestampSeconds), 'webhook-signature': signature };
        const secrets = given.secrets ?? [given.secret ?? ''];
        const options = isPlain ? PLAIN : { now: () => timestampSeconds * 1_000 };
        const verify = () => verifyWebhook(body, headers, secrets, options);
        if (secrets.length === 0) return assert.throws(verify, TypeError);
        // Bodies of these cases need not be events: being refused only for that means that the signature was right.
        try {
          verify();
        } catch (error) {
          assert.ok(isProblem('body_invalid')(error), String(error));
        }
      });
    }
  }
});

suite('verifyWebhook', () => {
  test('gives the event of a body that is signed in the way the receiver chose', () => {
    assert.deepEqual(verifyWebhook(BODY, { 'x-signature': signBody(SECRET, BODY) }, SECRET, PLAIN), EVENT);
    assert.deepEqual(verifyWebhook(BODY, standardHeaders(), SECRET, { now }), EVENT);
  });

  test('takes text, bytes and a parsed body, and headers of any kind', () => {
    const signature = signBody(SECRET, BODY);
    for (const body of [BODY, Buffer.from(BODY), new TextEncoder().encode(BODY), EVENT]) {
      assert.deepEqual(verifyWebhook(body, { 'X-Signature': signature }, SECRET, PLAIN), EVENT);
    }
    assert.deepEqual(verifyWebhook(BODY, new Headers({ 'X-Signature': signature }), SECRET, PLAIN), EVENT);
    assert.deepEqual(verifyWebhook(BODY, { 'x-signature': [signature] }, SECRET, PLAIN), EVENT);
  });

  test('refuses another body, another secret and another signature', () => {
    const headers = { 'x-signature': signBody(SECRET, BODY) };
    assert.throws(() => verifyWebhook(`${BODY} `, headers, SECRET, PLAIN), isProblem('signature_invalid'));
    assert.throws(() => verifyWebhook(BODY, headers, 'other', PLAIN), isProblem('signature_invalid'));
    assert.throws(() => verifyWebhook(BODY, { 'x-signature': '' }, SECRET, PLAIN), isProblem('signature_invalid'));
    assert.throws(
      () => verifyWebhook(BODY, standardHeaders(['other']), SECRET, { now }),
      isProblem('signature_invalid'),
    );
    const moved = { ...standardHeaders(), 'webhook-id': 'dlv_2' };
    assert.throws(() => verifyWebhook(BODY, moved, SECRET, { now }), isProblem('signature_invalid'));
  });

  test('refuses a request without a signature, and an empty secret', () => {
    for (const scheme of ['standard-webhooks', 'x-signature'] as const) {
      assert.throws(() => verifyWebhook(BODY, {}, SECRET, { scheme }), isProblem('signature_missing'));
    }
    assert.throws(() => verifyWebhook(BODY, { 'x-signature': signBody('', BODY) }, '', PLAIN), TypeError);
    assert.throws(() => verifyWebhook(BODY, { 'x-signature': signBody('', BODY) }, [], PLAIN), TypeError);
  });

  test('refuses a whsec_ secret without a key, with which anybody could sign', async () => {
    for (const secret of ['whsec_', 'whsec_%%%', 'whsec_=']) {
      assert.throws(() => verifyWebhook(BODY, standardHeaders([secret]), secret, { now }), TypeError);
      await assert.rejects(verifySigned(BODY, standardHeaders([secret]), ['good', secret], { now }), TypeError);
    }
  });

  test('accepts either secret while they rotate, on both sides', () => {
    assert.deepEqual(verifyWebhook(BODY, standardHeaders(['new', 'old']), 'old', { now }), EVENT);
    assert.deepEqual(verifyWebhook(BODY, standardHeaders(['new']), ['old', 'new'], { now }), EVENT);
    assert.deepEqual(verifyWebhook(BODY, { 'x-signature': signBody('old', BODY) }, ['new', 'old'], PLAIN), EVENT);
  });

  test('refuses what was signed more than five minutes ago or ahead, unless more is allowed', () => {
    const old = standardHeaders([SECRET], BODY, NOW_SECONDS - 301);
    const early = standardHeaders([SECRET], BODY, NOW_SECONDS + 301);
    assert.throws(() => verifyWebhook(BODY, old, SECRET, { now }), isProblem('timestamp_too_old'));
    assert.throws(() => verifyWebhook(BODY, early, SECRET, { now }), isProblem('timestamp_too_new'));
    assert.deepEqual(verifyWebhook(BODY, old, SECRET, { now, toleranceMs: 400_000 }), EVENT);
    const unreadable = { ...standardHeaders(), 'webhook-timestamp': 'soon' };
    assert.throws(() => verifyWebhook(BODY, unreadable, SECRET, { now }), isProblem('timestamp_invalid'));
  });

  test('does not fall back to the other signature where the chosen one is wrong or was stripped', () => {
    const plain = { 'x-signature': signBody(SECRET, BODY) };
    const wrong = { ...standardHeaders(['other']), ...plain };
    assert.throws(() => verifyWebhook(BODY, wrong, SECRET, { now }), isProblem('signature_invalid'));
    const { 'webhook-signature': _, ...others } = standardHeaders([SECRET], BODY, 1_577_836_800);
    const stripped = { ...others, ...plain };
    assert.throws(() => verifyWebhook(BODY, stripped, SECRET), isProblem('signature_missing'));
    assert.throws(() => verifyWebhook(BODY, standardHeaders(), SECRET, PLAIN), isProblem('signature_missing'));
  });

  test('refuses a signed body that is not an event', () => {
    for (const body of ['', '[]', 'null', '{"type":"purchase"}']) {
      const headers = { 'x-signature': signBody(SECRET, body) };
      assert.throws(() => verifyWebhook(body, headers, SECRET, PLAIN), isProblem('body_invalid'));
    }
  });

  test('whatever the secret and the body, with node:crypto or Web Crypto', async () => {
    const secrets = fc.oneof(
      fc.string({ minLength: 1, unit: 'binary' }),
      fc.uint8Array({ minLength: 1, maxLength: 64 }).map((key) => `whsec_${Buffer.from(key).toString('base64')}`),
    );
    await fc.assert(
      fc.asyncProperty(secrets, fc.string({ unit: 'binary' }), async (secret, event) => {
        const body = JSON.stringify({ ...EVENT, event });
        const ways = [
          { headers: standardHeaders([secret], body), options: { now } },
          { headers: { 'x-signature': signBody(secret, body) }, options: PLAIN },
        ];
        for (const { headers, options } of ways) {
          assert.deepEqual(verifyWebhook(body, headers, secret, options), JSON.parse(body));
          assert.deepEqual(await verifySigned(body, headers, secret, options), JSON.parse(body));
          await assert.rejects(verifySigned(`${body} `, headers, secret, options), isProblem('signature_invalid'));
        }
      }),
      { numRuns: 20 },
    );
  });
});

suite('verifyWebhookBatch', () => {
  const events = [
    { id: 'dlv_1', attempt: 1, order: '1794701330000-00-000000000004711-0003', body: EVENT },
    { id: 'dlv_2', attempt: 3, body: { type: 'delete', userId: 'u1', timestamp: 't' } },
  ];
  const batch = JSON.stringify({ version: 1, type: 'batch', events });

  test('gives the events of a batch as they stand, each with its id and, if it is there, its order', () => {
    const given = verifyWebhookBatch(batch, standardHeaders([SECRET], batch), SECRET, { now });
    assert.deepEqual(
      given,
      events.map(({ body, ...rest }) => ({ ...rest, event: body })),
    );
  });

  test('gives the event of a webhook that is no batch', () => {
    const headers = { ...standardHeaders(), 'X-Millrace-Attempt': '2', 'X-Millrace-Order': '17' };
    const given = verifyWebhookBatch(BODY, headers, SECRET, { now });
    assert.deepEqual(given, [{ id: 'dlv_1', attempt: 2, order: '17', event: EVENT }]);
  });

  test('refuses a batch with a wrong signature, and one that has something else inside', () => {
    const headers = standardHeaders(['other'], batch);
    assert.throws(() => verifyWebhookBatch(batch, headers, SECRET, { now }), isProblem('signature_invalid'));
    for (const broken of ['x', [1], [{ id: 'dlv_1' }], [{ body: EVENT }]]) {
      const body = JSON.stringify({ type: 'batch', events: broken });
      const signed = standardHeaders([SECRET], body);
      assert.throws(() => verifyWebhookBatch(body, signed, SECRET, { now }), isProblem('body_invalid'));
    }
    const asEvent = () => verifyWebhook(batch, standardHeaders([SECRET], batch), SECRET, { now });
    assert.throws(asEvent, isProblem('body_invalid'), 'a batch is no event');
  });
});
