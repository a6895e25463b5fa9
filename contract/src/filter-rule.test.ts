import assert from 'node:assert/strict';
import { suite, test } from 'node:test';
import { FILTER_OPS, type FilterRule, ruleProblems, ruleText } from './index.ts';

const problems = (rule: object) => ruleProblems({ field: 'event', op: 'exists', ...rule });
const places = (rule: object) => problems(rule).map(([path]) => path);

suite('a filter rule that cannot be saved', () => {
  const cases: [name: string, rule: object, path: string, message: RegExp][] = [
    [
      'asks for a field that calls do not have',
      { field: 'colour' },
      '/field',
      /^must be type, event, .* such as proper/,
    ],
    ['asks for everything at once', { field: 'properties' }, '/field', /or a path/],
    ['has a path with an empty name', { field: 'properties..plan' }, '/field', /or a path/],
    ['has a path that ends in a dot', { field: 'traits.' }, '/field', /or a path/],
    ['has a path of too many names', { field: `context${'.x'.repeat(11)}` }, '/field', /at most 10 names/],
    [
      'reaches into other parts of a call',
      { field: 'integrations.All' },
      '/field',
      /under properties, traits or context/,
    ],
    ['has nothing to compare with', { op: 'equals' }, '/value', /is needed by equals/],
    ['has no list to compare with', { op: 'one_of' }, '/values', /is needed by one_of/],
    ['has a list where one value is wanted', { op: 'less', value: 1, values: [2] }, '/values', /only one_of/],
    ['has one value where a list is wanted', { op: 'not_one_of', values: ['a'], value: 'b' }, '/value', /takes values/],
    ['compares where nothing is compared', { op: 'not_exists', value: 1 }, '/value', /whether the field is there/],
    ['begins with a number', { op: 'starts_with', value: 5 }, '/value', /must be text/],
    ['is greater than text', { op: 'greater', value: '5' }, '/value', /must be a number/],
  ];
  for (const [name, rule, path, message] of cases) {
    test(name, () => {
      assert.deepEqual(places(rule), [path]);
      assert.match(problems(rule)[0]?.[1] ?? '', message);
    });
  }

  test('is told all that is wrong with it', () => {
    assert.deepEqual(places({ field: 'x', op: 'greater', value: 'y', values: ['z'] }), ['/field', '/values', '/value']);
  });
});

suite('a filter rule in words', () => {
  const text = (rule: object) => ruleText(rule as FilterRule);

  test('says what it asks for', () => {
    assert.equal(text({ field: 'properties.plan', op: 'equals', value: 'pro' }), 'properties.plan equals "pro"');
    assert.equal(text({ field: 'type', op: 'not_one_of', values: ['page', 1] }), 'type not one of "page", 1');
    assert.equal(text({ field: 'traits.email', op: 'not_exists' }), 'traits.email not exists');
  });

  test('does not name ids, because it is kept', () => {
    assert.equal(text({ field: 'userId', op: 'equals', value: 'ann' }), 'userId equals a given id');
    assert.equal(text({ field: 'groupId', op: 'one_of', values: ['a', 'b'] }), 'groupId one of 2 given ids');
  });

  test('is never long', () => {
    const values = Array.from({ length: 100 }, (_, n) => `${n}`.repeat(100));
    for (const op of FILTER_OPS) assert.ok(text({ field: 'event', op, values }).length <= 300);
  });
});
