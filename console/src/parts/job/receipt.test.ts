import assert from 'node:assert/strict';
import { test } from 'node:test';
import {
  type Deletion,
  deletionSentence,
  erasedCount,
  isSettled,
  nextLookMs,
  noticeWords,
  receiptFile,
  troubleWords,
} from './receipt.ts';

const AT = '2026-11-16T12:00:00.000Z';
const notice = (destinationId: string, outcome: string | null) => ({
  sourceId: 'src_1',
  destinationId,
  deliveryId: `dlv_${destinationId}`,
  sentAt: AT,
  outcome,
  status: null,
});
const deletion = (outcomes: (string | null)[]): Deletion => ({
  id: 'del_1',
  state: 'done',
  progress: { done: 1, total: 1, skipped: {} },
  problem: null,
  createdAt: AT,
  updatedAt: AT,
  endedAt: AT,
  userHashes: ['aa'],
  sources: null,
  suppress: false,
  erasedBefore: AT,
  receipt: {
    notifications: outcomes.map((outcome, place) => notice(`dst_${place}`, outcome)),
    erased: { lanes: 1, deliveries: 7 },
  },
});

test('it counts the destinations that have the notification', () => {
  assert.equal(noticeWords(deletion([])), 'No destination was to be told.');
  assert.equal(noticeWords(deletion(['delivered', 'delivered'])), 'All 2 destinations have the notification.');
  assert.equal(noticeWords(deletion(['delivered', null])), '1 of 2 destinations has the notification.');
  assert.match(deletionSentence(deletion(['delivered']), Date.parse(AT)), /^The user is erased in Millrace since/);
});

test('it is settled when every notification has ended', () => {
  assert.equal(isSettled(deletion(['delivered', 'retrying'])), false);
  assert.equal(isSettled(deletion(['delivered', 'discarded'])), true);
  assert.equal(isSettled(deletion([null])), false);
});

test('it is looked at again until nothing changes any more', () => {
  assert.equal(nextLookMs(undefined), 2_000);
  assert.equal(nextLookMs({ ...deletion([null]), state: 'running' }), 2_000);
  assert.equal(nextLookMs(deletion(['delivered', 'retrying'])), 10_000);
  assert.equal(nextLookMs(deletion(['delivered', 'discarded'])), false);
  assert.equal(nextLookMs({ ...deletion([null]), state: 'failed' }), false);
});

test('it names the destinations that do not have it', () => {
  assert.equal(troubleWords(deletion(['delivered']), String), undefined);
  const words = troubleWords(deletion(['discarded', 'retrying']), (id) => (id === 'dst_0' ? 'Mail' : 'ERP'));
  assert.match(words ?? '', /^ERP gets it as soon as.*Mail did not take it/);
});

test('the receipt is the whole request as JSON', () => {
  const { name, text } = receiptFile(deletion(['delivered']));
  assert.equal(name, 'deletion-receipt-del_1.json');
  assert.equal(JSON.parse(text).id, 'del_1');
  assert.equal(erasedCount(deletion([])), 8);
});
