import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { DeliveryDetails } from '@millrace/contract/control';
import { answerState, phasesOf } from './attempt-phases.ts';
import { curlOf, requestText } from './curl.ts';
import { delayAfter, planAttempts, windowOf } from './plan-attempts.ts';
import { nextAttemptAt, tellDelivery } from './tell-delivery.ts';
import { bodySignature, standardSignature, verdictOf } from './verify-signature.ts';

const MINUTE = 60_000;

test('the plan follows the schedule and ends within the four hours', () => {
  assert.equal(delayAfter(1, 240 * MINUTE), 5_000);
  assert.equal(delayAfter(20, 240 * MINUTE), 30 * MINUTE);
  assert.equal(delayAfter(20, 25 * MINUTE), 20 * MINUTE);
  assert.equal(delayAfter(20, MINUTE), undefined);
  const planned = planAttempts(7, 0, 200 * MINUTE);
  assert.equal(planned[0]?.attempt, 8);
  assert.ok((planned.at(-1)?.at ?? Infinity) <= 200 * MINUTE);
  assert.ok(planned.length > 5 && planned.length < 15);
});

test('a replay begins four hours of its own', () => {
  const history = [attempt('2026-11-17T10:00:00Z', null), attempt('2026-11-17T20:00:00Z', 'rpl_1')];
  const window = windowOf({ history, replayId: 'rpl_1', firstAttemptAt: '2026-11-17T10:00:00Z' });
  assert.equal(window?.firstAt, Date.parse('2026-11-17T20:00:00Z'));
});

test('phases are lengths, and the failed one took the rest', () => {
  const timings = { dnsMs: 2, connectMs: 11, tlsMs: 24, firstByteMs: 220, totalMs: 224 };
  assert.deepEqual(
    phasesOf({ url: 'https://a.example', timings }).phases.map(({ ms }) => ms),
    [2, 11, 24, 183, 4],
  );
  const failed = phasesOf({
    url: 'https://a.example',
    errorClass: 'tls_expired',
    timings: { connectMs: 6, totalMs: 18 },
  });
  assert.deepEqual(
    failed.phases.map(({ name, ms }) => [name, ms]),
    [
      ['Connect', 6],
      ['TLS', 12],
      ['First byte', undefined],
    ],
  );
  assert.ok(phasesOf({ url: 'http://a.example', timings: { firstByteMs: 5, totalMs: 6 } }).isReused);
});

test('an answer is taken, tried again or refused for good', () => {
  assert.equal(answerState({ status: 204 }), 'delivered');
  assert.equal(answerState({ status: 429 }), 'retrying');
  assert.equal(answerState({ status: 401 }), 'givenup');
  assert.equal(answerState({ errorClass: 'timeout' }), 'retrying');
});

test('a curl command quotes what it is given and leaves hidden values as placeholders', () => {
  const request = {
    url: 'https://a.example/hook?x=1',
    headers: [
      { name: 'Authorization', value: null },
      { name: 'Content-Length', value: '9' },
      { name: 'webhook-id', value: 'dlv_1' },
    ],
    body: `{"a":"it's"}`,
    isCut: false,
  };
  const curl = curlOf(request);
  assert.ok(curl.includes(`--data-binary '{"a":"it'\\''s"}'`));
  assert.ok(curl.includes(`-H 'Authorization: <set in the destination>'`));
  assert.ok(!curl.includes('Content-Length'));
  assert.match(requestText(request), /^POST \/hook\?x=1 HTTP\/1\.1\nHost: a\.example\n/);
});

test('the signatures are those of the receiving page of the docs', async () => {
  const secret = 'whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw';
  const body =
    '{"version":1,"type":"track","userId":"u1","event":"Order Completed","properties":{"revenue":12.5},"timestamp":"2026-11-15T00:08:46.123Z","context":{}}';
  const signed = { id: 'dlv_01kxsj7n3qv5d8w2c6e9rzb4ht', timestamp: '1794701327', body };
  const standard = await standardSignature(secret, signed);
  assert.equal(standard, 'v1,ro98JRFbUPBe1qeSg2+hgFGSP1nkdz8Vgukpevz89fE=');
  const older = await bodySignature(secret, body);
  assert.equal(older, '8824141e1f027e9b148a1681dfaf5d51e42ca266');
  assert.equal(verdictOf(`v1,other= ${standard}`, { standard, body: older }), 'standard');
  assert.equal(verdictOf('v1,other=', { standard, body: older }), 'none');
});

test('a lane that fails holds up the next attempt', () => {
  const lane = {
    state: 'failing' as const,
    since: '2026-11-17T10:00:00Z',
    why: null,
    nextAt: '2026-11-17T10:09:00Z',
    depth: 1,
    deliveriesPerSecond: null,
    clearInMs: null,
    bytes: 0,
    limitBytes: null,
    room: null,
    updatedAt: '2026-11-17T10:00:00Z',
  };
  assert.equal(nextAttemptAt({ nextAt: '2026-11-17T10:01:00Z' }, lane), Date.parse('2026-11-17T10:09:00Z'));
  assert.equal(nextAttemptAt({ nextAt: '2026-11-17T10:01:00Z' }, null), Date.parse('2026-11-17T10:01:00Z'));
});

test('the headline of a retried delivery names each target', () => {
  const now = Date.parse('2026-11-17T10:05:00Z');
  const answers = [
    { url: 'https://a.example', status: 503, timings: { totalMs: 1 } },
    {
      url: 'https://b.example',
      errorClass: 'tls_expired',
      message: 'The certificate has expired.',
      timings: { totalMs: 1 },
    },
  ];
  const history = [{ ...attempt('2026-11-17T10:00:00Z', null), answers }];
  const delivery = { state: 'retrying', attempts: 7, history, replayId: null, nextAt: '2026-11-17T10:06:00Z' };
  const told = tellDelivery({ delivery: delivery as unknown as DeliveryDetails, lane: null, now });
  assert.equal(told.sentence, 'Both targets failed 7 times: a.example answered 503. The certificate has expired.');
  assert.match(told.after, /^Next attempt at .* Millrace gives up at .* dead letter for 14 days\.$/);
});

function attempt(at: string, replayId: string | null) {
  return { attempt: 1, at, outcome: 'retry', totalMs: 1, nextAt: null, replayId, answers: [] };
}
