import assert from 'node:assert/strict';
import { suite, test } from 'node:test';
import { ERROR_CLASSES, type ErrorClass } from '../client/error-classes.ts';
import type { Answer } from '../client/post.ts';
import { judge, meaningOf } from './judge.ts';
import { RETRY_WINDOW_MS } from '../../domain/delivery.ts';
import { retrySchedule } from './retry-schedule.ts';
import { aDelivery, answersOf, failure, status } from '../../../testing/samples.ts';

const NOW = Date.parse('2026-11-15T00:00:00Z');
const schedule = retrySchedule(1);
const attempted = aDelivery({ attempts: 1, firstAttemptAt: NOW });
const GOOD = status(200);
const LATER = status(503);
const NEVER = status(410);

function judged(policy: 'any' | 'all', ...answers: Answer[]) {
  return judge({ delivery: attempted, answers: answersOf(...answers), policy, schedule, now: NOW, dice: 0 });
}

function kindOf(policy: 'any' | 'all', ...answers: Answer[]): string {
  return judged(policy, ...answers).outcome.kind;
}

suite('what a status means', () => {
  const expected = (code: number): string => {
    if (code < 300) return 'delivered';
    if (code >= 500 || code === 408 || code === 429) return 'retry';
    return 'failed';
  };

  test('2xx is delivered; 408, 429 and 5xx are tried again; 3xx and all other 4xx are final', () => {
    for (let code = 200; code < 600; code += 1) assert.equal(meaningOf(status(code)), expected(code), String(code));
  });

  test('the ones that people ask about, by name', () => {
    const codes = {
      delivered: [200, 201, 202, 204],
      retry: [408, 429, 500, 502, 503, 504],
      failed: [301, 302, 304, 307],
    };
    for (const [meaning, all] of Object.entries(codes)) {
      for (const code of all) assert.equal(meaningOf(status(code)), meaning, String(code));
    }
    for (const code of [400, 401, 403, 404, 405, 409, 410, 413, 415, 422, 425, 451]) {
      assert.equal(meaningOf(status(code)), 'failed', String(code));
    }
  });
});

suite('what an error means', () => {
  /** Exhaustive on purpose: a new class has to be given a meaning here. */
  const MEANINGS: Record<ErrorClass, 'retry' | 'failed'> = {
    url_invalid: 'failed',
    request_invalid: 'retry',
    address_forbidden: 'failed',
    dns_not_found: 'retry',
    dns_failed: 'retry',
    dns_timeout: 'retry',
    connection_refused: 'retry',
    connection_reset: 'retry',
    connection_failed: 'retry',
    tls_self_signed: 'retry',
    tls_expired: 'retry',
    tls_wrong_host: 'retry',
    tls_untrusted: 'retry',
    tls_failed: 'retry',
    timeout: 'retry',
    bad_response: 'retry',
    answer_too_large: 'retry',
    not_sent: 'retry',
    stopped: 'retry',
  };

  test('every class has a meaning: only what will never be sent is final', () => {
    for (const each of ERROR_CLASSES) assert.equal(meaningOf(failure(each)), MEANINGS[each], each);
    assert.deepEqual([...ERROR_CLASSES].sort(), Object.keys(MEANINGS).sort());
  });
});

suite('one target', () => {
  for (const policy of ['any', 'all'] as const) {
    test(`with policy ${policy} is delivered, tried again or discarded by its one answer`, () => {
      assert.equal(kindOf(policy, GOOD), 'delivered');
      assert.equal(kindOf(policy, LATER), 'retry');
      assert.equal(kindOf(policy, NEVER), 'discarded');
    });
  }
});

suite('policy any', () => {
  test('is delivered at once by one good answer, wherever it stands among bad ones', () => {
    for (let targets = 1; targets <= 5; targets += 1) {
      for (let good = 0; good < targets; good += 1) {
        for (const bad of [LATER, NEVER]) {
          const answers = Array.from({ length: targets }, (_, index) => (index === good ? GOOD : bad));
          assert.equal(kindOf('any', ...answers), 'delivered', `${good} of ${targets}`);
        }
      }
    }
  });

  test('is discarded when every target has refused', () => {
    for (let targets = 1; targets <= 5; targets += 1) {
      assert.equal(kindOf('any', ...Array.from({ length: targets }, () => NEVER)), 'discarded');
    }
  });

  test('tries only those again that said later', () => {
    const { outcome, settled } = judged('any', NEVER, LATER, NEVER, failure('timeout'), NEVER);
    assert.equal(outcome.kind, 'retry');
    assert.deepEqual(Object.keys(settled), ['https://t0.example/', 'https://t2.example/', 'https://t4.example/']);
    assert.deepEqual([...new Set(Object.values(settled))], ['failed']);
  });

  test('is discarded when the last one that had said later refuses', () => {
    const delivery = { ...attempted, settled: { 'https://a.example/': 'failed' as const } };
    const answers = [{ url: 'https://b.example/', answer: NEVER }];
    const { outcome, settled } = judge({ delivery, answers, policy: 'any', schedule, now: NOW, dice: 0 });
    assert.equal(outcome.kind, 'discarded');
    assert.deepEqual(settled, { 'https://a.example/': 'failed', 'https://b.example/': 'failed' });
  });
});

suite('policy all', () => {
  test('is delivered only when every target is', () => {
    for (let targets = 1; targets <= 5; targets += 1) {
      assert.equal(kindOf('all', ...Array.from({ length: targets }, () => GOOD)), 'delivered');
      const butOne = Array.from({ length: targets }, (_, index) => (index === 0 ? LATER : GOOD));
      assert.equal(kindOf('all', ...butOne), 'retry');
    }
  });

  test('settles each target on its own: the good and the refused are not tried again', () => {
    const { outcome, settled } = judged('all', GOOD, NEVER, LATER, GOOD, LATER);
    assert.equal(outcome.kind, 'retry');
    assert.deepEqual(settled, {
      'https://t0.example/': 'delivered',
      'https://t1.example/': 'failed',
      'https://t3.example/': 'delivered',
    });
  });

  test('is discarded at the end if one target refused, though the others took it', () => {
    assert.equal(kindOf('all', GOOD, NEVER), 'discarded');
    const delivery = { ...attempted, settled: { 'https://a.example/': 'failed' as const } };
    const answers = [{ url: 'https://b.example/', answer: GOOD }];
    assert.equal(judge({ delivery, answers, policy: 'all', schedule, now: NOW, dice: 0 }).outcome.kind, 'discarded');
  });

  test('is delivered when the last one that had said later takes it', () => {
    const delivery = { ...attempted, settled: { 'https://a.example/': 'delivered' as const } };
    const answers = [{ url: 'https://b.example/', answer: GOOD }];
    assert.equal(judge({ delivery, answers, policy: 'all', schedule, now: NOW, dice: 0 }).outcome.kind, 'delivered');
  });
});

suite('Retry-After', () => {
  const asks = (retryAfter: string, ...others: Answer[]) =>
    judged('any', status(429, { retryAfter }), ...others).outcome;
  const OWN = { kind: 'retry', tier: 1, dueAt: NOW + 5_000 };
  const held = (until: number) => ({ kind: 'retry', tier: 1, dueAt: until, holdUntil: until });

  test('in seconds moves the next attempt to that time', () => {
    assert.deepEqual(asks('120'), held(NOW + 120_000));
    assert.deepEqual(asks(' 120 '), held(NOW + 120_000));
  });

  test('as an HTTP date moves the next attempt to that time', () => {
    assert.deepEqual(asks('Sun, 15 Nov 2026 01:00:00 GMT'), held(NOW + 3_600_000));
  });

  test('that is shorter than the own delay leaves that as it is, and holds the lane', () => {
    for (const seconds of [1, 5]) {
      assert.deepEqual(asks(String(seconds)), { ...OWN, holdUntil: NOW + seconds * 1_000 });
    }
  });

  test('of no time at all changes nothing', () => {
    assert.deepEqual(asks('0'), OWN);
  });

  test('in the past changes nothing', () => {
    assert.deepEqual(asks('Sat, 14 Nov 2026 23:00:00 GMT'), OWN);
  });

  test('that is neither seconds nor a date changes nothing', () => {
    for (const text of ['', 'soon', '-5', '1.5', '120s', 'tomorrow 2099', 'never 12', 'Infinity', '0x10', '1e3']) {
      assert.deepEqual(asks(text), OWN, JSON.stringify(text));
    }
  });

  test('beyond the window still leaves one attempt before its end', () => {
    const lastMoment = NOW + RETRY_WINDOW_MS - 5_000;
    assert.deepEqual(asks('20000'), held(lastMoment));
    assert.deepEqual(asks('99999999999999999999'), held(lastMoment));
    assert.deepEqual(asks('Fri, 01 Jan 2100 00:00:00 GMT'), held(lastMoment));
  });

  test('of several targets: the one that asks for most time gets it', () => {
    assert.deepEqual(asks('120', status(503, { retryAfter: '600' }), LATER), held(NOW + 600_000));
  });

  test('counts only where the answer means later: who refused is not asked again, so has no say', () => {
    assert.deepEqual(asks('10', status(403, { retryAfter: '600' })), held(NOW + 10_000));
  });

  test('changes nothing about what is delivered or discarded', () => {
    assert.deepEqual(judged('any', status(200, { retryAfter: '60' })).outcome, { kind: 'delivered' });
    assert.deepEqual(judged('any', status(403, { retryAfter: '60' })).outcome, { kind: 'discarded' });
  });
});

suite('the answer to a batch', () => {
  const ofBatch = (events: number, policy: 'any' | 'all', ...answers: Answer[]) =>
    judge({ delivery: attempted, answers: answersOf(...answers), events, policy, schedule, now: NOW, dice: 0 });

  test('that refuses it is no verdict on one of its events: it is tried again at once', () => {
    for (const code of [400, 401, 404, 409, 410, 413, 422]) {
      const { outcome, settled } = ofBatch(2, 'any', status(code));
      assert.deepEqual(outcome, { kind: 'retry', tier: 1, dueAt: attempted.dueAt }, String(code));
      assert.deepEqual(settled, {}, 'and the target stays open');
    }
  });

  test('is final for an event that was alone', () => {
    assert.equal(ofBatch(1, 'any', status(413)).outcome.kind, 'discarded');
  });

  test('that is about the URL is final for all', () => {
    assert.equal(ofBatch(100, 'any', status(301)).outcome.kind, 'discarded');
    assert.equal(ofBatch(100, 'any', failure('address_forbidden')).outcome.kind, 'discarded');
  });

  test('that asks to come later follows the schedule, also beside a target that refuses', () => {
    const { outcome, settled } = ofBatch(100, 'all', LATER, status(400));
    assert.deepEqual(outcome, { kind: 'retry', tier: 1, dueAt: NOW + 5_000 });
    assert.deepEqual(settled, {});
  });

  test('of one target is enough where any is, and not where all are', () => {
    assert.equal(ofBatch(100, 'any', GOOD, status(400)).outcome.kind, 'delivered');
    const { outcome, settled } = ofBatch(100, 'all', GOOD, status(400));
    assert.equal(outcome.kind, 'retry');
    assert.deepEqual(Object.values(settled), ['delivered']);
  });
});
