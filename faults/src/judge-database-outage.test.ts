import assert from 'node:assert/strict';
import { suite, test } from 'node:test';
import type { ControlAnswer } from './control-client.ts';
import { type DatabaseOutage, judgeDatabaseOutage } from './judge-database-outage.ts';

const MISSING = { code: 'database_unavailable', title: 'The database does not answer' };

/** Quiet until 1,000, without PostgreSQL until 5,000, back at 6,000. */
const GOOD: DatabaseOutage = {
  quiet: { from: 0, to: 1_000 },
  from: 1_000,
  returningAt: 5_000,
  returnedAt: 6_000,
  answers: [refusal({}), refusal({ path: '/readyz' }), answer({ path: '/healthz', status: 200 })],
  attempts: [attempt(500, 10), attempt(2_000, 40)],
  besideAttempts: [attempt(2_000, 10)],
  collectReadiness: [sample(2_000, 200)],
  silences: [],
  controlReadiness: [sample(1_100, 503), sample(3_000, 503), sample(6_100, 200)],
  unwanted: 0,
  untilDisabledMs: 300,
  untilCreatedMs: 300,
};

suite('the verdict on a time without PostgreSQL', () => {
  test('is green when collect does not notice and control says what is missing', () => {
    assert.deepEqual(complaintsOf(GOOD), []);
  });

  test('is green when the machine was as slow for a process without a database', () => {
    const slow = { attempts: [attempt(500, 10), attempt(2_000, 200)], besideAttempts: [attempt(2_000, 100)] };
    assert.deepEqual(complaintsOf({ ...GOOD, ...slow }), []);
  });

  const red: [what: string, change: Partial<DatabaseOutage>, failure: RegExp][] = [
    ['collect stores nothing', { attempts: [attempt(500, 10)] }, /collect stored nothing/],
    ['collect says it is not ready', { collectReadiness: [sample(2_000, 503)] }, /collect was not green/],
    ['control was never asked', { answers: [] }, /control was not asked/],
    ['control answers 500', { answers: [refusal({ status: 500 })] }, /did not answer 503/],
    ['control gives another reason', { answers: [refusal({ body: { code: 'internal' } })] }, /did not answer 503/],
    ['control does not say when to come back', { answers: [refusal({ hasRetryAfter: false })] }, /with Retry-After/],
    ['/healthz is red', { answers: [refusal({}), answer({ path: '/healthz', status: 503 })] }, /healthz of control/],
    ['/readyz never turns red', { controlReadiness: [sample(900, 200), sample(6_100, 200)] }, /was never red/],
    ['/readyz turns red at the return', { controlReadiness: [sample(5_500, 503), sample(6_100, 200)] }, /never red/],
    [
      '/readyz is green in between',
      { controlReadiness: [sample(1_100, 503), sample(3_000, 200), sample(6_100, 200)] },
      /control was green 1 times/,
    ],
    ['a refused source is there', { unwanted: 1 }, /although their creation was refused/],
  ];
  for (const [what, change, failure] of red) {
    test(`is red when ${what}`, () => {
      const { failures } = judgeDatabaseOutage({ ...GOOD, ...change });
      assert.equal(failures.length, 1, failures.join('; '));
      assert.match(failures[0] ?? '', failure);
    });
  }

  const late: [what: string, change: Partial<DatabaseOutage>, complaint: RegExp][] = [
    ['collect is slower', { attempts: [attempt(500, 10), attempt(2_000, 41)] }, /p99 of collect was 41 ms, over 40 ms/],
    [
      'collect says it is not ready while a stream is silent',
      { collectReadiness: [sample(2_000, 503)], silences: [{ from: 1_900, to: 2_100 }] },
      /while a stream was silent/,
    ],
    ['control is slow to refuse', { answers: [refusal({ answeredAt: 3_500 })] }, /took up to 1500 ms/],
    [
      '/readyz turns red late',
      { controlReadiness: [sample(2_400, 200), sample(2_500, 503), sample(6_100, 200)] },
      /red after 1501 ms/,
    ],
    ['/readyz turns green late', { controlReadiness: [sample(1_100, 503)] }, /control was green after Infinity ms/],
    ['a source is disabled late', { untilDisabledMs: 5_001 }, /disabled at the return/],
    ['a source is created late', { untilCreatedMs: 5_001 }, /created at the return/],
  ];
  for (const [what, change, complaint] of late) {
    test(`is lateness and nothing else when ${what}`, () => {
      const judged = judgeDatabaseOutage({ ...GOOD, ...change });
      assert.deepEqual(judged.failures, []);
      assert.equal(judged.late.length, 1, judged.late.join('; '));
      assert.match(judged.late[0] ?? '', complaint);
    });
  }
});

function complaintsOf(outage: DatabaseOutage): string[] {
  const { failures, late } = judgeDatabaseOutage(outage);
  return [...failures, ...late];
}

function attempt(startedAt: number, ms: number) {
  return { startedAt, endedAt: startedAt + ms, outcome: 200, hasRetryAfter: false };
}

function sample(askedAt: number, status: number) {
  return { askedAt, answeredAt: askedAt + 1, status };
}

function answer(change: Partial<ControlAnswer>): ControlAnswer {
  const base = { path: '/api/v1/sources', askedAt: 2_000, answeredAt: 2_001, status: 503, hasRetryAfter: false };
  return { ...base, body: {}, ...change };
}

function refusal(change: Partial<ControlAnswer>): ControlAnswer {
  return answer({ hasRetryAfter: true, body: MISSING, ...change });
}
