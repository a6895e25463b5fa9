import assert from 'node:assert/strict';
import { test } from 'node:test';
import { clock } from '../../format/times.ts';
import { isFiltered, lookedOf, lookedSentence, nameOf, queryOf, type StoredPage } from './stored-events.ts';

const NOW = Date.parse('2026-11-16T12:00:30Z');
const page = (events: number, from: string, isComplete: boolean): StoredPage => ({
  items: [],
  lookedAt: { requests: events, events },
  from,
  to: '2026-11-16T12:00:00Z',
  isComplete,
  nextCursor: null,
});

test('a search asks for the filters that the URL has, and for a range that is stable for a minute', () => {
  assert.deepEqual(queryOf({ text: 'FH-1', name: '', range: '1h', show: 'x' }, 'src_1', NOW), {
    sourceId: 'src_1',
    text: 'FH-1',
    from: '2026-11-16T11:00:00.000Z',
  });
  assert.equal(isFiltered({ show: 'x', sourceId: 'src_1' }), false);
  assert.equal(isFiltered({ userId: 'u1' }), true);
});

test('it says how far Millrace looked', () => {
  const from = '2026-11-16T11:20:03Z';
  const looked = lookedOf([page(2_000, '2026-11-16T11:40:00Z', false), page(10, from, false)]);
  assert.equal(
    lookedSentence(looked, NOW),
    `Millrace looked at 2,010 stored events, back to ${clock(from)}. Older ones are left.`,
  );
  assert.match(lookedSentence(lookedOf([page(1, from, true)]), NOW), /1 stored event: everything/);
});

test('an event is called by its name, else by its type', () => {
  assert.equal(nameOf({ type: 'track', event: 'Order Completed' }), 'Order Completed');
  assert.equal(nameOf({ type: 'page', name: 'Cart' }), 'Cart');
  assert.equal(nameOf({ type: 'identify' }), 'identify');
});
