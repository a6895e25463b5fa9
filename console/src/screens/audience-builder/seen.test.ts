import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { SourceSchema } from '@millrace/contract/control';
import { seenIn } from './seen.ts';

type Item = SourceSchema['items'][number];
const item = (fields: Partial<Item>): Item => ({
  type: 'track',
  name: null,
  count: 1,
  blocked: false,
  firstSeenAt: null,
  lastSeenAt: null,
  properties: [],
  hasMore: false,
  ...fields,
});
const property = (path: string, type: 'string' | 'number', ...samples: (string | number)[]) => ({
  path,
  types: [type],
  count: 1,
  samples,
});

test('the builder suggests what was seen, the most frequent first', () => {
  const seen = seenIn([
    item({ name: 'Rare', count: 2 }),
    item({
      name: 'Order',
      count: 5,
      properties: [property('revenue', 'number', 12), property('currency', 'string', 'EUR')],
    }),
    item({ name: 'Rare', count: 1, properties: [property('x', 'string')] }),
    item({ type: 'page', name: 'Home', count: 9 }),
    item({ type: 'identify', count: 3, properties: [property('plan', 'string', 'pro', 'team')] }),
  ]);
  assert.deepEqual(seen.names('track'), ['Order', 'Rare']);
  assert.deepEqual(seen.fields('track', 'Order', true), ['properties.revenue']);
  assert.deepEqual(seen.fields('track', 'Order').slice(0, 2), ['properties.revenue', 'properties.currency']);
  assert.ok(seen.fields('track', 'unknown').includes('properties.x'), 'a name that was not seen: fields of all');
  assert.deepEqual(seen.traits, ['plan']);
  assert.deepEqual(seen.samples('properties.currency'), ['EUR']);
  assert.deepEqual(seen.samples('plan'), ['pro', 'team']);
});
