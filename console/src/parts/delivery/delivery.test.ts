import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { DeliveryDetails } from '@millrace/contract/control';
import { answerState, phasesOf } from './attempt-phases.ts';
import { mayChange } from './delivery-words.ts';
import { delayAfter, planAttempts, windowOf } from './plan-attempts.ts';
import { nextAttemptAt, tellDelivery } from './tell-delivery.ts';

const MINUTE = 60_000;

test('a finished delivery changes no more, unless a given-up one is sent again', () => {
  for (const state of ['pending', 'retrying'] as const) assert.equal(mayChange({ state }, false), true);
  for (const state of ['delivered', 'skipped'] as const) assert.equal(mayChange({ state }, true), false);
  for (const state of ['discarded', 'expired'] as const) {
    assert.equal(mayChange({ state }, false), false);
    assert.equal(mayChange({ state }, true), true);
  }
});

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
  const waiting = { history, replayId: 'rpl_2', firstAttemptAt: '2026-11-17T10:00:00Z' };
  assert.equal(windowOf(waiting), undefined);
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

test('a lane that fails holds up the next attempt', () => {
  const lane = {
    state: 'failing' as const,
    since: '2026-11-17T10:00:00Z',
    why: null,
    nextAt: '2026-11-17T10:09:00Z',
    depth: 1,
    bytes: 0,
    limitBytes: null,
    room: null,
    deliveriesPerSecond: null,
    clearInMs: null,
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

test('a delivery of a deleted destination has no dead letter', () => {
  const history = [attempt('2026-11-17T10:00:00Z', null)];
  const delivery = { state: 'discarded', reason: 'destination_deleted', attempts: 1, history, lastAttemptAt: null };
  const told = tellDelivery({ delivery: delivery as unknown as DeliveryDetails, lane: null, now: 0 });
  assert.equal(told.sentence, 'The destination was deleted while it waited.');
  assert.match(told.after, /^Nothing is left to send it to/);
});

function attempt(at: string, replayId: string | null) {
  return { attempt: 1, at, outcome: 'retry', totalMs: 1, nextAt: null, replayId, answers: [] };
}
