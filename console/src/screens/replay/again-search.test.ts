import assert from 'node:assert/strict';
import { test } from 'node:test';
import { againSearch } from './again-search.ts';

const ASKED = {
  sourceId: 'src_1',
  destinationId: 'dst_1',
  from: '2026-11-16T12:00:00.000Z',
  to: '2026-11-16T13:00:00.000Z',
};

test('a replay of several users and events opens with all of them', () => {
  const filter = { userIds: ['u1', 'u2', 'u3'], events: ['Order Completed', 'Order Refunded'] };
  assert.deepEqual(againSearch({ ...ASKED, filter }), {
    ...ASKED,
    userId: 'u1,u2,u3',
    event: 'Order Completed,Order Refunded',
  });
  assert.deepEqual(againSearch({ ...ASKED, filter: { types: ['track'] } }), { ...ASKED, type: 'track' });
  assert.deepEqual(againSearch(ASKED), ASKED);
});

test('a filter that the form cannot hold is not opened as another one', () => {
  assert.equal(againSearch({ ...ASKED, filter: { userIds: ['a,b'] } }), undefined);
  assert.equal(againSearch({ ...ASKED, filter: { events: ['a\nb'] } }), undefined);
  assert.equal(againSearch({ ...ASKED, filter: { events: [' a'] } }), undefined);
  assert.equal(againSearch({ ...ASKED, filter: { types: ['track', 'page'] } }), undefined);
});
