import assert from 'node:assert/strict';
import { suite, test } from 'node:test';
import type { AcceptedEvent, JsonObject } from '@millrace/contract';
import { openGatherer } from './gather-schema.ts';

const AT = '2026-11-16T12:00:00.000Z';

function order(properties: JsonObject, receivedAt = AT): AcceptedEvent {
  return {
    messageId: 'm',
    type: 'track',
    event: 'Order',
    userId: 'u',
    context: {},
    properties,
    receivedAt,
    timestamp: AT,
  };
}

function gather(...events: AcceptedEvent[]) {
  const gatherer = openGatherer();
  for (const event of events) gatherer.add(event);
  return gatherer.gathered();
}

suite('what events are made of', () => {
  test('is told by name, with every type that a property had and three different samples', () => {
    const totals = [1, 1, 2, '3', null, 4].map((total) => order({ total }));
    const [kind] = gather(...totals, order({}, '2026-11-16T13:00:00.000Z'));
    assert.deepEqual([kind?.name, kind?.count, kind?.lastAt], ['Order', 7, '2026-11-16T13:00:00.000Z']);
    assert.deepEqual(kind?.properties, [
      { path: 'total', types: ['number', 'string', 'null'], count: 6, samples: [1, 2, '3'] },
    ]);
  });

  test('goes into objects so far, not into lists, and reads traits where a call has those', () => {
    const deep = order({ a: { b: { c: { d: { e: 1 } } } }, list: [{ x: 1 }] });
    const identify = { ...order({}), type: 'identify', traits: { plan: 'pro' } } as unknown as AcceptedEvent;
    const [first, second] = gather(deep, identify);
    assert.deepEqual(
      first?.properties.map(({ path, types }) => [path, types[0]]),
      [
        ['a', 'object'],
        ['a.b', 'object'],
        ['a.b.c', 'object'],
        ['a.b.c.d', 'object'],
        ['list', 'array'],
      ],
    );
    assert.deepEqual([second?.type, second?.name, second?.properties[0]?.path], ['identify', null, 'plan']);
  });

  test('stays small, whatever is sent', () => {
    const many = Object.fromEntries(Array.from({ length: 5_000 }, (_, index) => [`p${index}`, index]));
    const [kind] = gather(order(many), order({ p0: '😀'.repeat(5_000), ['__proto__']: 'x' }));
    assert.deepEqual([kind?.properties.length, kind?.hasMore], [200, true]);
    const sample = kind?.properties[0]?.samples[1];
    assert.ok(typeof sample === 'string' && sample.length <= 100 && sample.isWellFormed());
  });

  test('keeps types with the same name apart', () => {
    const page = { ...order({}), type: 'page', name: 'Order' } as unknown as AcceptedEvent;
    assert.deepEqual(
      gather(order({}), page, page).map(({ type, count }) => [type, count]),
      [
        ['page', 2],
        ['track', 1],
      ],
    );
  });
});
