import assert from 'node:assert/strict';
import { test } from 'node:test';
import { filterWords, isFiltered, neighbour, queryOf } from './delivery-search.ts';

test('only set filters go to the API', () => {
  assert.deepEqual(queryOf({ state: 'retrying', userId: 'u_1' }, '2026-11-17T10:00:00Z'), {
    from: '2026-11-17T10:00:00Z',
    limit: 100,
    state: 'retrying',
    userId: 'u_1',
  });
});

test('a filter that belongs to the page does not count as a filter', () => {
  assert.equal(isFiltered({ destinationId: 'dst_1' }, { destinationId: 'dst_1' }), false);
  assert.equal(isFiltered({ destinationId: 'dst_1', state: 'pending' }, { destinationId: 'dst_1' }), true);
});

test('the words of a search name each filter, and show what is invisible', () => {
  assert.equal(filterWords({ state: 'retrying', userId: 'u\u200b1' }), 'state Retrying and user u\\u200b1');
});

test('keys stay within the list', () => {
  const items = [{ id: 'a' }, { id: 'b' }];
  assert.equal(neighbour(items, undefined, 1)?.id, 'a');
  assert.equal(neighbour(items, 'a', 1)?.id, 'b');
  assert.equal(neighbour(items, 'b', 1)?.id, 'b');
  assert.equal(neighbour(items, 'a', -1)?.id, 'a');
  assert.equal(neighbour([], 'a', 1), undefined);
});
