import assert from 'node:assert/strict';
import { suite, test } from 'node:test';
import type { SourceSchema } from '@millrace/contract/control';
import { toJsonSchema } from './json-schema.ts';
import { isMixed, keyOf, matching, type SchemaItem, schemaRows } from './schema-rows.ts';

const item = (type: SchemaItem['type'], name: string | null, more: Partial<SchemaItem> = {}): SchemaItem => ({
  type,
  name,
  count: 10,
  blocked: false,
  firstSeenAt: null,
  lastSeenAt: null,
  properties: [],
  hasMore: false,
  ...more,
});
const paid = item('track', 'Paid', {
  properties: [
    { path: 'total', types: ['number'], count: 10, samples: [12.5] },
    { path: 'coupon', types: ['string', 'null'], count: 4, samples: ['A'] },
    { path: 'cart', types: ['object'], count: 10, samples: [] },
    { path: 'cart.id', types: ['string', 'number'], count: 10, samples: [] },
  ],
});
const schema: SourceSchema = {
  lookedAt: { requests: 5, events: 20 },
  from: '2026-11-17T10:00:00.000Z',
  to: '2026-11-17T11:00:00.000Z',
  isComplete: true,
  itemsLeftOut: 0,
  items: [paid, item('identify', null), item('track', 'Never', { count: 0, blocked: true })],
};

suite('the schema of a source', () => {
  test('is a JSON Schema with objects in objects, and without names that were not seen', () => {
    const { anyOf } = toJsonSchema({ id: 'src_1', name: 'Web shop' }, schema) as { anyOf: unknown[] };
    assert.equal(anyOf.length, 2);
    assert.deepEqual(anyOf[0], {
      title: 'Paid',
      type: 'object',
      properties: {
        type: { const: 'track' },
        event: { const: 'Paid' },
        properties: {
          type: 'object',
          properties: {
            total: { type: 'number' },
            coupon: { type: ['null', 'string'] },
            cart: { type: 'object', properties: { id: { type: ['number', 'string'] } }, required: ['id'] },
          },
          required: ['total', 'cart'],
        },
      },
      required: ['type', 'event'],
    });
  });

  test('lists names that were seen earlier once', () => {
    const seen = ['Paid', 'Old'].map((name) => ({ name, blocked: false, firstSeenAt: null, lastSeenAt: null }));
    assert.deepEqual(schemaRows(schema, seen).map(keyOf), ['track:Paid', 'identify', 'track:Never', 'track:Old']);
  });

  test('is filtered by names, types and properties', () => {
    assert.deepEqual(
      ['pai', 'IDENT', 'cart.id', 'nothing', ' '].map((filter) => matching(schema.items, filter).length),
      [1, 1, 1, 0, 3],
    );
  });

  test('tells a property of several types from one that may be missing', () => {
    assert.deepEqual(paid.properties.map(isMixed), [false, false, false, true]);
  });
});
