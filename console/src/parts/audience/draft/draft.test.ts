import assert from 'node:assert/strict';
import { suite, test } from 'node:test';
import type { Condition, Definition } from '@millrace/contract/audiences';
import { draftOf } from './draft-of.ts';
import { emptyDraft, emptyEvent, emptyTrait, leafCount, withPart } from './draft.ts';
import { problemWords } from './problem-words.ts';
import { problemsByKey, problemsOfFields, readDraft } from './read-draft.ts';

const audience = (when: Condition): Definition => ({
  kind: 'audience',
  name: 'A',
  destinations: [],
  includeAnonymous: false,
  when,
});

suite('a definition comes back as it was after it was shown for editing', () => {
  const all: Definition[] = [
    {
      ...audience({
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
          { any: [{ audience: 'aud_1' }, { not: { type: 'page', exactly: 0 } }] },
        ],
      }),
      sources: ['src_1'],
      destinations: ['dst_1'],
      includeAnonymous: true,
      settleSeconds: 5,
    },
    audience({ event: 'E', atLeast: 2, lessThan: 5 }),
    audience({
      not: {
        all: [
          { event: 'E', atLeast: 1 },
          { event: 'F', lessThan: 2 },
        ],
      },
    }),
    audience({
      type: 'screen',
      event: 'Home',
      average: 'properties.x',
      between: { from: '2026-01-01T00:00:00.000Z', to: '2026-02-01T12:30:00.000Z' },
      exactly: 2.5,
    }),
    audience({ type: 'identify', atLeast: 3, window: '90m' }),
    audience({ type: 'track', atLeast: 10, window: '1d' }),
    audience({ trait: 'address.city', op: 'exists' }),
    {
      kind: 'trait',
      name: 'T',
      destinations: [],
      includeAnonymous: false,
      compute: 'most_frequent',
      event: 'Order Completed',
      field: 'properties.category',
      window: '90d',
    },
    { kind: 'trait', name: 'T', destinations: [], includeAnonymous: false, compute: 'count', type: 'page' },
  ];
  for (const definition of all) {
    test(JSON.stringify(definition).slice(0, 120), () => {
      const read = readDraft(draftOf(definition));
      assert.deepEqual(read.definition, definition);
      assert.deepEqual(read.problems, []);
    });
  }
});

test('a group of one says what its part says, and a double not says nothing', () => {
  const of = (when: Condition) => readDraft(draftOf(audience(when))).definition;
  assert.deepEqual(of({ all: [{ event: 'E', atLeast: 1 }] }), audience({ event: 'E', atLeast: 1 }));
  assert.deepEqual(of({ not: { not: { audience: 'a' } } }), audience({ audience: 'a' }));
});

suite('a draft that is not whole', () => {
  test('says what is missing beside the condition and the field', () => {
    const event = { ...emptyEvent(), number: 'many' };
    const trait = { ...emptyTrait(), isNot: true };
    const draft = { ...emptyDraft('audience'), root: { ...emptyDraft('audience').root, parts: [event, trait] } };
    const { problems, places } = readDraft(draft);
    const found = problemsByKey(problems, places);
    assert.deepEqual(
      [...(found.get(event.key) ?? [])],
      [
        ['event', 'The name must not be empty.'],
        ['atLeast', 'The number must be a number.'],
      ],
    );
    assert.match(found.get(trait.key)?.get('trait') ?? '', /not be empty/);
    assert.match(problemsOfFields(problems, places).get('name') ?? '', /not be empty/);
  });

  test('has problems at the right place when it has one condition only', () => {
    const event = { ...emptyEvent(), selection: { ...emptyEvent().selection, event: 'E', length: '0' } };
    const draft = { ...emptyDraft('audience'), name: 'A', root: { ...emptyDraft('audience').root, parts: [event] } };
    const { problems, places } = readDraft(draft);
    assert.match(problemsByKey(problems, places).get(event.key)?.get('window') ?? '', /such as 90m/);
  });

  test('names the rule that is wrong', () => {
    assert.equal(problemWords('where/1/values', 'must be a list'), 'In rule 2, the value must be a list.');
    assert.equal(problemWords('', 'is too deep'), 'It is too deep.');
  });

  test('needs no name for a preview', () => {
    const event = { ...emptyEvent(), selection: { ...emptyEvent().selection, event: 'E' } };
    const draft = { ...emptyDraft('audience'), root: { ...emptyDraft('audience').root, parts: [event] } };
    assert.deepEqual(readDraft(draft, 'Preview').problems, []);
  });
});

test('conditions are changed and taken out', () => {
  const draft = draftOf(audience({ all: [{ any: [{ audience: 'a' }, { audience: 'b' }] }, { audience: 'c' }] }));
  const [, last] = draft.root.parts;
  assert.ok(last?.shape === 'audience');
  assert.equal(leafCount(draft.root), 3);
  const changed = { ...draft, root: withPart(draft.root, last.key, { ...last, audience: 'd' }) };
  assert.deepEqual(
    readDraft(changed).definition,
    audience({ all: [{ any: [{ audience: 'a' }, { audience: 'b' }] }, { audience: 'd' }] }),
  );
  assert.equal(leafCount(withPart(draft.root, last.key, undefined)), 2);
});
