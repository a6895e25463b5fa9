import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Definition, DefinitionPreview } from '@millrace/contract/control';
import {
  completenessWords,
  estimateWords,
  lagWords,
  progressWords,
  sampleWords,
  sizeWords,
  standingOf,
} from './definition-standing.ts';

const LIVE: Definition = {
  id: 'aud_1',
  kind: 'audience',
  key: 'a',
  name: 'A',
  state: 'live',
  version: 1,
  destinations: [],
  includeAnonymous: false,
  settleSeconds: 0,
  when: { event: 'E', atLeast: 1 },
  size: 8_310,
  completeFrom: null,
  incompleteSince: null,
  progress: null,
  edit: null,
  firstSyncWaiting: 0,
  missing: { sources: [], destinations: [] },
  createdAt: '2026-11-16T10:00:00.000Z',
  updatedAt: '2026-11-16T10:00:00.000Z',
};
const PREVIEW: DefinitionPreview = {
  size: 8_310,
  low: 7_770,
  high: 8_850,
  isExact: false,
  profiles: 99_900,
  sampled: 10_000,
  completeFrom: null,
  tookMs: 250,
};

test('the state tells what matters most', () => {
  const word = (change: Partial<Definition>) => standingOf({ ...LIVE, ...change }).word;
  assert.equal(word({}), 'Live');
  assert.equal(word({ firstSyncWaiting: 5 }), 'Live, first sync');
  assert.equal(word({ edit: { version: 2, state: 'computing', progress: null } }), 'Live, version 2 follows');
  assert.equal(word({ incompleteSince: '2026-11-16T10:00:00.000Z', firstSyncWaiting: 5 }), 'Live, incomplete');
  assert.equal(word({ state: 'deleting', incompleteSince: '2026-11-16T10:00:00.000Z' }), 'Being deleted');
});

test('sizes are told with their interval, and "about" stands before every estimate', () => {
  assert.deepEqual(estimateWords(PREVIEW), { size: 'about 8,310', range: 'between 7,770 and 8,850' });
  assert.equal(sampleWords(PREVIEW), 'from a sample of 10,000 of 99,900 profiles');
  const exact = { ...PREVIEW, isExact: true, low: 8_310, high: 8_310, sampled: 99_900 };
  assert.deepEqual(estimateWords(exact), { size: '8,310', range: 'counted exactly' });
  assert.equal(sampleWords(exact), 'all 99,900 profiles');
  assert.equal(sampleWords({ ...exact, profiles: 0 }), 'no profile yet');
  assert.equal(sizeWords({ kind: 'audience', size: 1 }), '1 user');
  assert.equal(sizeWords({ kind: 'trait', size: 2 }), '2 users have a value');
});

test('progress is told also while the total is not known', () => {
  assert.equal(progressWords(null), undefined);
  assert.equal(progressWords({ done: 7, total: null }), '7 users so far');
  assert.equal(progressWords({ done: 420, total: 1_000 }), '42.0 %, 420 of 1,000 users');
  assert.equal(progressWords({ done: 0, total: 0 }), 'about to begin');
});

test('missing events are told in words', () => {
  const now = Date.parse('2026-11-17T10:00:00.000Z');
  assert.equal(completenessWords({ completeFrom: null }, now), undefined);
  assert.match(completenessWords({ completeFrom: '2026-11-14T10:00:00.000Z' }, now)?.title ?? '', /^Complete from 14/);
  const lost = completenessWords({ completeFrom: null, incompleteSince: '2026-11-14T10:00:00.000Z' }, now);
  assert.match(lost?.title ?? '', /^Incomplete since 14/);
});

test('lag is told in seconds, then in minutes', () => {
  assert.equal(lagWords(null), 'waiting for the first event');
  assert.equal(lagWords(4.2), 'up to date');
  assert.equal(lagWords(40.2), '40 s behind');
  assert.equal(lagWords(300), '5 min behind');
});
