import assert from 'node:assert/strict';
import { test } from 'node:test';
import { whyNot } from './why-not.ts';

const body = JSON.stringify({ type: 'page', properties: { total: 42, cart: { id: 'c1' } } });

test('the value of the event stands beside what the rule asks for', () => {
  assert.equal(whyNot({ field: 'properties.total', op: 'greater', value: 100 }, body), '42 is not greater than 100');
  assert.equal(
    whyNot({ field: 'type', op: 'one_of', values: ['track', 'identify'] }, body),
    'page is not one of track, identify',
  );
  assert.equal(whyNot({ field: 'properties.plan', op: 'equals', value: 'pro' }, body), 'the field is missing');
  assert.equal(whyNot({ field: 'properties.cart', op: 'equals', value: 'x' }, body), '{"id":"c1"} is not x');
  assert.equal(whyNot({ field: 'toString', op: 'exists' }, body), 'the field is missing');
});

test('a body that cannot be read gives no reason', () => {
  assert.equal(whyNot({ field: 'type', op: 'exists' }, 'cut off'), undefined);
});
