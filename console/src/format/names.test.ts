import assert from 'node:assert/strict';
import { test } from 'node:test';
import { nameIn } from './names.ts';

test('only a whole list shows that a thing is deleted', () => {
  const items = [{ id: 'dst_1', name: 'Orders' }];
  assert.equal(nameIn({ items, nextCursor: null }, 'dst_1', 'deleted'), 'Orders');
  assert.equal(nameIn({ items, nextCursor: 'more' }, 'dst_1', 'deleted'), 'Orders');
  assert.equal(nameIn({ items, nextCursor: null }, 'dst_2', 'deleted'), 'deleted');
  assert.equal(nameIn({ items, nextCursor: 'more' }, 'dst_2', 'deleted'), 'dst_2');
  assert.equal(nameIn(undefined, 'dst_2', 'deleted'), 'dst_2');
});
