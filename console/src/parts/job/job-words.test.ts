import assert from 'node:assert/strict';
import { test } from 'node:test';
import { type Job, progressText, rateOf, shareOf, skippedCount } from './job-words.ts';

const AT = Date.parse('2026-11-16T12:00:00Z');
const job = (over: Partial<Job>, done = 120, total: number | null = 420): Job => ({
  id: 'rpl_1',
  state: 'running',
  progress: { done, total, skipped: { filtered: 3, erased: 2 } },
  problem: null,
  createdAt: new Date(AT).toISOString(),
  updatedAt: new Date(AT).toISOString(),
  endedAt: null,
  ...over,
});

test('a running job says how far it is, how fast, and until when', () => {
  assert.equal(
    progressText(job({}), AT + 10_000).replaceAll('\u00a0', ' '),
    '120 of 420, about 12 a second, done in about 25 s',
  );
  assert.equal(progressText(job({}, 5, null), AT + 500), '5 so far, still counting');
  assert.equal(progressText(job({ state: 'paused' }), AT + 10_000), '120 of 420');
});

test('shares and rates are undefined while they say nothing', () => {
  assert.equal(shareOf(job({}, 0, null)), undefined);
  assert.equal(shareOf(job({ state: 'done' }, 0, 0)), 1);
  assert.equal(shareOf(job({}, 210)), 0.5);
  assert.equal(rateOf(job({}, 0), AT + 10_000), undefined);
  assert.equal(skippedCount(job({})), 5);
});
