import assert from 'node:assert/strict';
import { test } from 'node:test';
import { draftOf, readRule, readValues, wholeRules } from './rules.ts';

const draft = (field: string, op: Parameters<typeof draftOf>[0]['op'], text: string) => ({ key: 0, field, op, text });

test('a number is a number, quotes make it a text', () => {
  assert.deepEqual(readValues('5, "5", true, pro, "a, b", -1.5'), [5, '5', true, 'pro', 'a, b', -1.5]);
  assert.deepEqual(readValues('007, 1e400'), ['007', '1e400']);
});

test('a rule comes back as it was after it was shown for editing', () => {
  for (const rule of [
    { field: 'type', op: 'one_of' as const, values: ['track', 'identify'] },
    { field: 'properties.total', op: 'greater' as const, value: 100 },
    { field: 'properties.plan', op: 'equals' as const, value: '5' },
    { field: 'properties.plan', op: 'equals' as const, value: 'say "hi"' },
    { field: 'event', op: 'one_of' as const, values: ['a, b', 'c"d', ' e ', 'true'] },
    { field: 'event', op: 'starts_with' as const, value: '5 "Order' },
    { field: 'properties.plan', op: 'not_one_of' as const, values: ['', 'a'] },
    { field: 'properties.plan', op: 'equals' as const, value: '' },
    { field: 'userId', op: 'exists' as const },
  ]) {
    assert.deepEqual(readRule(draftOf(rule)), { ok: true, rule });
  }
});

test('a rule that is not whole says what is missing and stays out of the preview', () => {
  const drafts = [
    draft('', 'equals', 'x'),
    draft('plan', 'equals', 'x'),
    draft('type', 'equals', ' '),
    draft('properties.total', 'less', 'ten'),
  ];
  assert.deepEqual(
    drafts.map((each) => {
      const read = readRule(each);
      return read.ok ? 'whole' : read.at;
    }),
    ['field', 'field', 'value', 'value'],
  );
  assert.deepEqual(wholeRules([...drafts, draft('type', 'equals', 'track')]), [
    { field: 'type', op: 'equals', value: 'track' },
  ]);
});
