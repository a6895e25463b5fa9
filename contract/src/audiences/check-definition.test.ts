import assert from 'node:assert/strict';
import { suite, test } from 'node:test';
import { Value } from 'typebox/value';
import { NewDefinition } from '../control/definitions.ts';
import {
  checkDefinition,
  type Definition,
  type DefinitionProblem,
  referenceProblems,
  settleSecondsOf,
} from './index.ts';

const problems = (value: unknown): DefinitionProblem[] => {
  const checked = checkDefinition(value);
  return checked.ok ? [] : checked.problems;
};
const audience = (when: unknown) => ({ kind: 'audience', name: 'A', when });
const trait = (fields: object) => ({ kind: 'trait', name: 'T', ...fields });
const leaf = (fields: object) => audience({ event: 'E', atLeast: 1, ...fields });

const BIG_SPENDERS = {
  name: 'Big spenders 30 days',
  kind: 'audience',
  sources: ['src_1'],
  destinations: ['dst_1'],
  when: {
    all: [
      {
        event: 'Order Completed',
        where: [{ field: 'properties.currency', op: 'equals', value: 'EUR' }],
        sum: 'properties.revenue',
        window: '30d',
        atLeast: 500,
      },
      { not: { event: 'Refund Requested', window: '7d', atLeast: 1 } },
      { trait: 'plan', op: 'one_of', values: ['pro', 'team'] },
    ],
  },
};

suite('a definition that can be saved', () => {
  const valid: [name: string, definition: object][] = [
    ['the example of the documentation', BIG_SPENDERS],
    ['an audience of page views without a name', audience({ type: 'page', window: '90m', atLeast: 3 })],
    ['a range of counts', leaf({ atLeast: 2, lessThan: 5 })],
    ['a count of none', leaf({ atLeast: undefined, exactly: 0 })],
    [
      'an average between two times',
      leaf({ average: 'properties.x', between: { from: '2026-01-01', to: '2026-02-01' } }),
    ],
    ['a nested trait', audience({ trait: 'address.city', op: 'exists' })],
    ['the members of another audience', audience({ any: [{ audience: 'aud_1' }, { not: { audience: 'aud_2' } }] })],
    ['four levels', audience({ all: [{ any: [{ not: { event: 'E', atLeast: 1 } }] }] })],
    ['a count', trait({ compute: 'count', event: 'E', window: '30d' })],
    ['the time of the first order', trait({ compute: 'first', event: 'Order Completed', field: 'timestamp' })],
    ['a list of values', trait({ compute: 'unique_list', type: 'identify', field: 'context.locale' })],
  ];
  for (const [name, definition] of valid) {
    test(`is ${name}`, () => {
      assert.deepEqual(problems(definition), []);
      const sent: unknown = JSON.parse(JSON.stringify(definition));
      if (!name.includes('between')) assert.ok(Value.Check(NewDefinition, sent), 'and the schema of the API agrees');
    });
  }
});

suite('a definition that cannot be saved', () => {
  const invalid: [name: string, definition: unknown, path: string, message: RegExp][] = [
    ['is not an object', 'audience', '', /must be an object/],
    ['has no kind', { name: 'A' }, '/kind', /audience or trait/],
    ['has no name', { ...leaf({}), name: ' ' }, '/name', /not be empty/],
    ['has a name of signs', { ...leaf({}), name: '!?' }, '/name', /letter or a digit/],
    ['names no source', { ...leaf({}), sources: [] }, '/sources', /leave it out/],
    ['names a destination twice', { ...leaf({}), destinations: ['d', 'd'] }, '/destinations/1', /twice/],
    ['has a misspelled field', { ...leaf({}), destination: ['d'] }, '/destination', /not known here/],
    ['settles too long', { ...leaf({}), settleSeconds: 1e6 }, '/settleSeconds', /0 to 3600/],
    ['has no condition', { kind: 'audience', name: 'A' }, '/when', /needed/],
    ['has an empty group', audience({ any: [] }), '/when/any', /one or more/],
    ['mixes a group with a leaf', audience({ not: { audience: 'a' }, event: 'E' }), '/when/event', /not known here/],
    [
      'has five levels',
      audience({ all: [{ all: [{ all: [{ not: { audience: 'a' } }] }] }] }),
      '/when/all/0/all/0/all/0/not',
      /4 levels/,
    ],
    [
      'has too many leaves',
      audience({ all: Array.from({ length: 21 }, () => ({ audience: 'a' })) }),
      '/when',
      /has 21 leaves/,
    ],
    ['counts no event', audience({ atLeast: 1 }), '/when/event', /needed/],
    ['names identify calls', leaf({ type: 'identify' }), '/when/event', /no name/],
    ['counts groups', leaf({ type: 'group' }), '/when/type', /track, page, screen/],
    ['compares with nothing', audience({ event: 'E' }), '/when/atLeast', /needed, or lessThan/],
    ['compares twice', leaf({ exactly: 1 }), '/when/exactly', /beside/],
    ['compares with an empty range', leaf({ atLeast: 3, lessThan: 3 }), '/when/lessThan', /greater than atLeast/],
    ['counts at least none', leaf({ atLeast: 0 }), '/when/atLeast', /everybody/],
    ['counts half events', leaf({ atLeast: 1.5 }), '/when/atLeast', /whole number/],
    ['compares with text', leaf({ sum: 'properties.x', atLeast: '5' }), '/when/atLeast', /must be a number/],
    ['sums and averages', leaf({ sum: 'properties.x', average: 'properties.x' }), '/when/average', /choose one/],
    ['sums what calls do not have', leaf({ sum: 'revenue' }), '/when/sum', /such as properties\.plan/],
    ['has a window without a unit', leaf({ window: '30' }), '/when/window', /90m, 12h or 30d/],
    ['has a window of ten years', leaf({ window: '3650d' }), '/when/window', /1095 days/],
    [
      'has two ranges',
      leaf({ window: '1d', between: { from: '2026-01-01', to: '2026-01-02' } }),
      '/when/between',
      /choose one/,
    ],
    [
      'has a range that ends first',
      leaf({ between: { from: '2026-01-02', to: '2026-01-01' } }),
      '/when/between/to',
      /later/,
    ],
    [
      'has a wrong rule',
      leaf({ where: [{ field: 'event', op: 'less', value: 'x' }] }),
      '/when/where/0/value',
      /a number/,
    ],
    ['has an unknown operator', leaf({ where: [{ field: 'event', op: 'like' }] }), '/when/where/0/op', /equals/],
    ['has a rule of another shape', leaf({ where: ['x'] }), '/when/where/0', /must be a rule/],
    ['asks a trait without a value', audience({ trait: 'plan', op: 'equals' }), '/when/value', /needed by equals/],
    ['asks a path with an empty name', audience({ trait: 'a..b', op: 'exists' }), '/when/trait', /address\.city/],
    ['asks a path of four names', audience({ trait: 'a.b.c.d', op: 'exists' }), '/when/trait', /at most 3 names/],
    ['computes the unknown', trait({ compute: 'median', event: 'E' }), '/compute', /one of count/],
    ['sums no field', trait({ compute: 'sum', event: 'E' }), '/field', /needed by sum/],
    ['counts a field', trait({ compute: 'count', event: 'E', field: 'properties.x' }), '/field', /counts events/],
    ['sums times', trait({ compute: 'sum', event: 'E', field: 'timestamp' }), '/field', /first and last only/],
  ];
  for (const [name, definition, path, message] of invalid) {
    test(name, () => {
      const found = problems(definition);
      assert.deepEqual(
        found.map((problem) => problem.path),
        [path],
      );
      assert.match(found[0]?.message ?? '', message);
    });
  }

  test('is told everything that is wrong with it', () => {
    const found = problems({ kind: 'audience', name: '', when: { all: [{ event: 'E' }, { trait: 'x', op: 'y' }] } });
    assert.deepEqual(
      found.map(({ path }) => path),
      ['/name', '/when/all/0/atLeast', '/when/all/1/op'],
    );
  });
});

suite('an audience that asks for others', () => {
  const asking = (...ids: string[]): Definition => ({
    kind: 'audience',
    name: 'A',
    when: { all: ids.map((audience) => ({ audience })) },
  });
  const others = new Map<string, Definition>([
    ['a', asking('b')],
    ['b', asking('c')],
    ['c', { kind: 'audience', name: 'C', when: { event: 'E', atLeast: 1 } }],
    ['t', { kind: 'trait', name: 'T', compute: 'count', event: 'E' }],
  ]);
  const messages = (definition: Definition, id?: string) =>
    referenceProblems(definition, id, others).map(({ message }) => message);

  test('may ask for any that does not ask for it', () => {
    assert.deepEqual(messages(asking('a', 'b', 'c')), []);
    assert.deepEqual(messages(asking('b', 'c'), 'a'), []);
  });

  test('may not come to ask for itself', () => {
    assert.deepEqual(messages(asking('c'), 'c'), ['is this audience itself']);
    assert.deepEqual(messages(asking('a'), 'c'), ['asks for this audience itself, by way of others']);
  });

  test('may not ask for a trait or for the unknown', () => {
    assert.deepEqual(messages(asking('t', 'x')), [
      'is a computed trait, not an audience',
      'is not an audience of this workspace',
    ]);
    assert.equal(referenceProblems(asking('x'), undefined, others)[0]?.path, '/when/all/0/audience');
  });
});

test('numbers wait a minute for the next change, the rest is told at once', () => {
  const seconds = (fields: object) => settleSecondsOf({ ...trait(fields), event: 'E' } as Definition);
  assert.equal(seconds({ compute: 'sum', field: 'properties.x' }), 60);
  assert.equal(seconds({ compute: 'last', field: 'properties.x' }), 0);
  assert.equal(seconds({ compute: 'count', settleSeconds: 5 }), 5);
  assert.equal(settleSecondsOf({ ...BIG_SPENDERS } as Definition), 0);
});
