import assert from 'node:assert/strict';
import { test } from 'node:test';
import { judgeWholeRecord, type RecordTruth, type WholeRecord } from './judge-whole-record.ts';
import type { Arrival } from './read-arrival.ts';

const arrived = (status: number, attempt: number): Arrival => {
  const ids = { messageId: 'm1', destinationId: 'dst_a', sourceId: 'src_a', webhookId: 'dlv_1' };
  return { ...ids, status, attempt, at: attempt };
};

/** One call, failed once and then delivered. */
const truth: RecordTruth = {
  arrivals: [arrived(500, 1), arrived(200, 2)],
  calls: new Map([['m1', { sourceId: 'src_a', answered: { startedAt: 0, endedAt: 1 } }]]),
  storedAgain: new Map(),
};
const record: WholeRecord = {
  deliveries: [{ messageId: 'm1', destinationId: 'dst_a', state: 'delivered' }],
  counts: new Map([
    ['delivered', 1],
    ['retry', 1],
  ]),
  attempts: 2,
  unanswered: 0,
  usage: new Map([['src_a', 1]]),
};

const complaintsOf = (change: Partial<WholeRecord>) => judgeWholeRecord({ ...record, ...change }, truth).failures;

test('a record that agrees with clients and receivers is good', () => {
  assert.deepEqual(complaintsOf({}), []);
});

test('a retry too few or too many is told', () => {
  const counts = new Map([['delivered', 1]]);
  assert.deepEqual(complaintsOf({ counts }), ['0 retries are counted, but 1 answers were 500']);
});

test('an attempt that nobody recorded is told', () => {
  assert.deepEqual(complaintsOf({ attempts: 1 }), ['1 attempts are recorded, but 2 arrived']);
});

test('an attempt that had no answer may have arrived or not, where packets vanish', () => {
  const counts = new Map([...record.counts, ['retry', 2] as const]);
  const withOne = { ...record, counts, attempts: 3, unanswered: 1 };
  assert.deepEqual(judgeWholeRecord(withOne, { ...truth, mayVanish: true }).failures, []);
  const itArrived = [arrived(200, 2), arrived(200, 3)];
  const failures = (mayVanish: boolean) =>
    judgeWholeRecord(withOne, { ...truth, mayVanish, arrivals: [arrived(500, 1), ...itArrived] }).failures;
  assert.deepEqual(failures(true), []);
  assert.deepEqual(failures(false), ['2 retries are counted, but 1 answers were 500']);
  assert.deepEqual(judgeWholeRecord({ ...withOne, attempts: 4 }, { ...truth, mayVanish: true }).failures, [
    '4 attempts are recorded, but 2 arrived, and 1 had no answer',
  ]);
});

test('an outcome that cannot have been is told', () => {
  const counts = new Map([...record.counts, ['expired', 1] as const]);
  assert.deepEqual(complaintsOf({ counts }), ['what nobody saw is counted: expired']);
});

test('usage is what was accepted, and once more for each copy that is stored', () => {
  const usage = new Map([['src_a', 2]]);
  assert.deepEqual(complaintsOf({ usage }), ['usage is wrong: src_a has 2, but 1 were accepted']);
  const storedAgain = new Map([['m1', 1]]);
  assert.deepEqual(judgeWholeRecord({ ...record, usage }, { ...truth, storedAgain }).failures, []);
});
