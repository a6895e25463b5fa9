import assert from 'node:assert/strict';
import { test } from 'node:test';
import { judgeCuts, type SeenCut } from './judge-cuts.ts';

const cut: SeenCut = {
  kind: 'server from servers',
  direction: 'both',
  what: 'n1 from n2 and n3',
  isServed: true,
  ledAll: false,
  lastedMs: 5_000,
  outageMs: 4_000,
  arrivalGapMs: 4_000,
  leftMs: 4_000,
  leadersMs: 100,
  storedMs: 20,
};
const lateOf = (change: Partial<SeenCut>) => judgeCuts([{ ...cut, ...change }]).late;

test('a cut that collect gets around in time is fine', () => {
  assert.deepEqual(lateOf({}), []);
});

test('clients that were not served although they could have been are told', () => {
  assert.deepEqual(lateOf({ outageMs: 11_000 }), ['n1 from n2 and n3 (both): clients were not served for 11000 ms']);
  assert.deepEqual(lateOf({ outageMs: 11_000, ledAll: true }), []);
  assert.deepEqual(lateOf({ outageMs: 11_000, kind: 'server from one server' }), []);
  assert.deepEqual(lateOf({ outageMs: 90_000, isServed: false }), []);
});

test('a server that was left late is told, and so is a slow return', () => {
  assert.deepEqual(lateOf({ leftMs: 10_001 }), [
    'n1 from n2 and n3 (both): collect left its server only after 10001 ms',
  ]);
  assert.deepEqual(lateOf({ leftMs: 10_001, kind: 'server from one server' }), []);
  assert.deepEqual(lateOf({ storedMs: 6_000 }), ['n1 from n2 and n3 (both): no 200 for 6000 ms after it was healed']);
});
