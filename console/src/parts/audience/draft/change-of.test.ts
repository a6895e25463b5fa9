import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Definition } from '@millrace/contract/audiences';
import { changeOf, effectsOf, isRecomputed } from './change-of.ts';

const BEFORE: Definition = {
  kind: 'audience',
  name: 'A',
  sources: ['src_1'],
  destinations: ['dst_1'],
  when: { event: 'E', atLeast: 1 },
};
const effects = (after: Definition) =>
  effectsOf(
    { change: changeOf(BEFORE, after), before: BEFORE, version: 2, key: 'a', size: '12 users' },
    (id) => `<${id}>`,
  );

test('only what differs is sent, and null takes a field away', () => {
  assert.deepEqual(changeOf(BEFORE, BEFORE), {});
  assert.deepEqual(changeOf(BEFORE, { ...BEFORE, name: 'B' }), { name: 'B' });
  const { sources: _, ...everywhere } = BEFORE;
  assert.deepEqual(changeOf(BEFORE, everywhere), { sources: null });
  const trait: Definition = {
    kind: 'trait',
    name: 'T',
    compute: 'sum',
    field: 'properties.x',
    event: 'E',
    window: '1d',
  };
  assert.deepEqual(changeOf(trait, { kind: 'trait', name: 'T', compute: 'count', event: 'E' }), {
    compute: 'count',
    field: null,
    window: null,
  });
});

test('a name or a destination is no new version', () => {
  assert.ok(!isRecomputed({ name: 'B', destinations: [] }));
  assert.ok(isRecomputed({ name: 'B', settleSeconds: 5 }));
});

test('an edit says what it does before it is saved', () => {
  assert.deepEqual(effects(BEFORE), []);
  assert.deepEqual(effects({ ...BEFORE, name: 'B', destinations: ['dst_2', 'dst_3'] }), [
    'The name changes. The key stays a.',
    'First sync of <dst_2> and <dst_3>: one identify call for each member, 12 users now.',
    '<dst_1> is told nothing more, and keeps what it knows.',
  ]);
  assert.match(effects({ ...BEFORE, when: { event: 'F', atLeast: 1 } })[0] ?? '', /Version 2 stays live .* only users/);
});
