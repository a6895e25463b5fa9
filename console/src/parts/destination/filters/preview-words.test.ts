import assert from 'node:assert/strict';
import { test } from 'node:test';
import { eventName, ratePerMinute, rowsOf } from './preview-words.ts';

const event = (receivedAt: string) => ({
  messageId: receivedAt,
  type: 'track',
  name: 'Order',
  userId: null,
  receivedAt,
  body: '{}',
});
const preview = (count: number, seconds: number) => ({
  looked: {
    events: 10,
    from: '2026-11-17T13:00:00.000Z',
    to: new Date(Date.parse('2026-11-17T13:00:00.000Z') + seconds * 1_000).toISOString(),
    endedBy: 'last' as const,
    sentence: '',
  },
  delivered: { count, first: [event('2026-11-17T13:00:01.000Z')] },
  skipped: {
    count: 10 - count,
    by: [],
    first: [
      { ...event('2026-11-17T13:00:02.000Z'), reason: 'filtered', rule: 'type equals "page"', sentence: 'Not sent: …' },
    ],
  },
});

test('the rate is estimated only from a span that is long enough', () => {
  assert.equal(ratePerMinute(preview(9, 20)), '27 a minute');
  assert.equal(ratePerMinute(preview(9, 2)), undefined);
  assert.equal(ratePerMinute(preview(1, 600)), '6 an hour');
  assert.equal(ratePerMinute(preview(0, 600)), undefined);
});

test('rows are newest first and can be narrowed', () => {
  assert.deepEqual(
    rowsOf(preview(1, 60), 'all', []).map(({ skipped }) => skipped?.words),
    ['breaks the rule type equals "page"', undefined],
  );
  assert.equal(rowsOf(preview(1, 60), 'sent', []).length, 1);
});

test('an event is called by its name, and by its type where it has none', () => {
  assert.equal(eventName({ type: 'track', name: 'Order' }), 'Order');
  assert.equal(eventName({ type: 'page', name: 'Home' }), 'page Home');
  assert.equal(eventName({ type: 'identify', name: null }), 'identify');
});
