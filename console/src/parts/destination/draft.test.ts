import assert from 'node:assert/strict';
import { test } from 'node:test';
import { changeOf, draftOfDestination, draftProblem } from './draft.ts';
import { settingFields } from './setting-fields.ts';

const schema = {
  properties: {
    targets: { type: 'array' },
    sharedSecret: { type: 'string', secret: true },
    successPolicy: { enum: ['any', 'all'], default: 'any' },
    maxPerSecond: { type: 'integer', minimum: 1 },
  },
};
const fields = settingFields(schema);
const saved = {
  id: 'dst_1',
  sourceId: 'src_1',
  catalog: 'Webhooks',
  name: 'Orders',
  enabled: true,
  paused: false,
  pausedAt: null,
  filters: [{ op: 'one_of' as const, field: 'type', values: ['track'] }],
  settings: {
    targets: [{ url: 'https://a.example', headers: { A: { set: true } } }],
    sharedSecret: { set: true },
    maxPerSecond: 3,
  },
  projection: { state: 'applied' as const, since: null, why: null },
  createdAt: '',
  updatedAt: '',
};

test('the form has no field for targets and secrets', () => {
  assert.deepEqual(
    fields.map(({ name, kind }) => [name, kind]),
    [
      ['successPolicy', 'choice'],
      ['maxPerSecond', 'number'],
    ],
  );
});

test('a draft that was not touched changes nothing', () => {
  assert.equal(changeOf(draftOfDestination(saved), saved, fields), undefined);
});

test('a change holds only what differs, and null takes a setting away', () => {
  const draft = draftOfDestination(saved);
  assert.deepEqual(
    changeOf({ ...draft, name: 'Orders 2', others: { maxPerSecond: '', successPolicy: 'all' } }, saved, fields),
    {
      name: 'Orders 2',
      settings: { maxPerSecond: null, successPolicy: 'all' },
    },
  );
  assert.deepEqual(changeOf({ ...draft, rules: [] }, saved, fields), { filters: [] });
});

test('a rule that is not whole stops the save', () => {
  const draft = draftOfDestination(saved);
  const half = { ...draft, rules: [...draft.rules, { key: 0, field: '', op: 'equals' as const, text: '' }] };
  assert.match(draftProblem(half) ?? '', /rules/);
  assert.equal(draftProblem(draft), undefined);
});
