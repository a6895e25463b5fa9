import assert from 'node:assert/strict';
import { test } from 'node:test';
import { fromLocalInput, listIn, localInput, rangeOf, requestOf } from './replay-form.ts';

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

test('a request says what is missing, and has only the filters that are given', () => {
  assert.deepEqual(requestOf({}, NOW), { ok: false, missing: 'Choose a source.' });
  const made = requestOf({ sourceId: 's', destinationId: 'd', range: '1h', event: 'A,B', type: 'nonsense' }, NOW);
  assert.deepEqual(made.ok && made.value.filter, { events: ['A', 'B'] });
  const all = requestOf({ sourceId: 's', destinationId: 'd', range: '1h' }, NOW);
  assert.equal(all.ok && 'filter' in all.value, false);
});

test('a local time comes back as the same time', () => {
  const at = '2026-11-16T11:00:00.123Z';
  assert.equal(fromLocalInput(localInput(at)), at);
  assert.equal(localInput('nonsense'), '');
});
