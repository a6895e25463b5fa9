import assert from 'node:assert/strict';
import { test } from 'node:test';
import { fromLocalInput, isFixed, isSame, listIn, localInput, rangeOf, requestOf } from './replay-form.ts';

const NOW = Date.parse('2026-11-16T12:00:00Z');

test('names are separated by commas or line breaks, once each', () => {
  assert.deepEqual(listIn(' a, b\nb ,, c'), ['a', 'b', 'c']);
  assert.deepEqual(listIn(undefined), []);
});

test('a range is a span that ends now, or two times in their order', () => {
  assert.deepEqual(rangeOf({ range: '1h' }, NOW), { from: '2026-11-16T11:00:00.000Z', to: '2026-11-16T12:00:00.000Z' });
  assert.equal(rangeOf({ from: '2026-11-16T11:00:00Z', to: '2026-11-16T10:00:00Z' }, NOW), undefined);
  assert.equal(rangeOf({ from: '2026-11-16T11:00:00Z' }, NOW), undefined);
  assert.ok(rangeOf({ from: '2026-11-16T11:00:00.100Z', to: '2026-11-16T11:00:00.101Z' }, NOW));
});

test('a range without times of its own moves on with the clock', () => {
  assert.equal(isFixed({}), false);
  assert.equal(isFixed({ range: '6h', from: '2026-11-16T11:00:00Z' }), false);
  assert.equal(isFixed({ from: '2026-11-16T11:00:00Z' }), true);
  assert.equal(isFixed({ range: 'own' }), true);
});

test('a preview stays while the clock goes on, and goes when a field changes', () => {
  const one = { sourceId: 's', destinationId: 'd', from: '2026-11-16T11:00:00Z', to: '2026-11-16T12:00:00Z' };
  const later = { ...one, from: '2026-11-16T11:00:10Z', to: '2026-11-16T12:00:10Z' };
  assert.equal(isSame(one, later, false), true);
  assert.equal(isSame(one, later, true), false);
  assert.equal(isSame(one, { ...later, from: '2026-11-16T06:00:10Z' }, false), false);
  assert.equal(isSame(one, { ...later, filter: { events: ['A'] } }, false), false);
});

test('a request says what is missing, and has only the filters that are given', () => {
  assert.deepEqual(requestOf({}, NOW), { ok: false, missing: 'Choose a source.' });
  const made = requestOf({ sourceId: 's', destinationId: 'd', range: '1h', event: 'A,B', type: 'nonsense' }, NOW);
  assert.deepEqual(made.ok && made.value.filter, { events: ['A', 'B'] });
  const all = requestOf({ sourceId: 's', destinationId: 'd', range: '1h' }, NOW);
  assert.equal(all.ok && 'filter' in all.value, false);
});

test('a range of two times stays one while a time is half typed', () => {
  const search = { sourceId: 's', destinationId: 'd', range: 'own', to: '2026-11-16T11:00:00Z' };
  assert.equal(isFixed(search), true);
  assert.deepEqual(requestOf(search, NOW), { ok: false, missing: 'Give a time and a later one.' });
});

test('a local time comes back as the same time', () => {
  const at = '2026-11-16T11:00:00.123Z';
  assert.equal(fromLocalInput(localInput(at)), at);
  assert.equal(localInput('nonsense'), '');
});
