import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Job } from './job-words.ts';
import { filterWords, replaySentence, skippedWords } from './replay-words.ts';

const job = (state: Job['state'], total: number | null = 12): Job => ({
  id: 'rpl_1',
  state,
  progress: { done: 1, total, skipped: { filtered: 3 } },
  problem: null,
  createdAt: '2026-11-16T12:00:00Z',
  updatedAt: '2026-11-16T12:00:00Z',
  endedAt: null,
});

test('a filter is said in words, and no filter is said as nothing', () => {
  assert.equal(filterWords(undefined), undefined);
  assert.equal(filterWords({}), undefined);
  assert.equal(filterWords({ types: ['track'], events: ['A', 'B'], userIds: ['u1'] }), 'type track, A and B, user u1');
});

test('left out events are counted by reason', () => {
  assert.deepEqual(skippedWords({ erased: 2, filtered: 156, gone: 0 }), [
    { reason: 'filtered', words: "the destination's filter stops it", count: 156 },
    { reason: 'erased', words: 'its user was erased', count: 2 },
  ]);
});

test('each state of a replay has a sentence', () => {
  assert.match(replaySentence(job('running', null), 0), /counts the stored events/);
  assert.match(replaySentence(job('running'), 0), /1 event of 12/);
  assert.equal(replaySentence(job('done'), 0), '1 event was sent again. It left out 3.');
  assert.match(replaySentence(job('cancelled'), 0), /of 12, then a member cancelled it/);
});
