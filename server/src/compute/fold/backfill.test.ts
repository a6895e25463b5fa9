import assert from 'node:assert/strict';
import { suite, test } from 'node:test';
import type { Definition } from '@millrace/contract/audiences';
import { openDice } from '../../../testing/compute/dice.ts';
import {
  AT,
  DAY,
  definitionsInPlan,
  eventOf,
  folded,
  foldedInto,
  HOUR,
  planOf,
  userOf,
} from '../../../testing/compute/plans.ts';
import { decodeState, findMeasure } from '../state/profile-state.ts';
import { foldPast, isInTiles } from './backfill.ts';
import { compilePlan } from './compile-plan.ts';
import { assignSlots, needsOf } from './measure-need.ts';
import type { Plan } from './plan.ts';
import type { StoredProfile } from '../profiles/profile-store.ts';

const counted = (window: string | undefined, others: object = {}): Definition => ({
  kind: 'audience',
  name: 'A',
  when: { event: 'E', atLeast: 1, ...(window === undefined ? {} : { window }), ...others },
});

const OLD = counted('1h');

/** The cells of the measure in slot 2, which belongs to the second definition. */
function cellsIn({ state }: StoredProfile, plan: Plan): unknown {
  const measure = plan.measures.get(2);
  return measure && findMeasure(decodeState(state), 2, measure);
}

suite('a new measure', () => {
  const dice = openDice(3);
  const events = Array.from({ length: 60 }, () => {
    const receivedAt = AT + dice.whole(0, 3 * DAY);
    const at = receivedAt - dice.pick([0, HOUR, 40 * DAY]);
    return eventOf({
      at,
      receivedAt,
      source: dice.pick(['src_1', 'src_2']),
      properties: { revenue: dice.whole(1, 9) },
    });
  }).toSorted((a, b) => Date.parse(a.event.receivedAt) - Date.parse(b.event.receivedAt));
  const repeated = [...events.slice(0, 30), ...events.slice(20, 25), ...events.slice(30)];

  function plansWith(definition: Definition): { before: Plan; after: Plan } {
    const [old, made] = definitionsInPlan([OLD, definition]);
    if (old === undefined || made === undefined) throw new Error('two definitions were made');
    return { before: compilePlan([old], 1), after: compilePlan([old, { ...made, use: 'folded' }], 2) };
  }

  const kinds: [name: string, definition: Definition][] = [
    ['hours', counted('30d')],
    ['days', counted('100d')],
    ['the whole past', counted(undefined)],
    ['one source', { ...counted('30d'), sources: ['src_1'] }],
    [
      'a sum',
      counted('30d', { sum: 'properties.revenue', where: [{ field: 'properties.revenue', op: 'greater', value: 3 }] }),
    ],
  ];
  for (const [name, definition] of kinds) {
    test(`of ${name} gets the stored events, as if it had always been there`, () => {
      const { before, after } = plansWith(definition);
      const always = folded(after, ...repeated);
      const memory = folded(before, ...repeated.slice(0, 40));
      foldedInto(memory, after, repeated.slice(40));
      const filled = foldPast(userOf(memory), repeated.slice(0, 40), after, new Set([2]));
      assert.deepEqual(cellsIn(filled, after), cellsIn(userOf(always), after));
    });

    const [need] = needsOf(definition);
    if (need === undefined || !isInTiles(need)) continue;
    const sources = definition.sources ?? ['src_1', 'src_2', 'src_3'];
    /** The version is live from change 3 on. */
    const liveAt3 = () => {
      const [old, made] = definitionsInPlan([OLD, definition]);
      if (old === undefined || made === undefined) throw new Error('two definitions were made');
      const measures = made.measures.map((each) => ({ ...each, past: { fill: { since: 3, sources } } }));
      return compilePlan([old, { ...made, measures, changed: 3 }], 3);
    };
    test(`of ${name} gets the tiles when its profile is opened, once or more often`, () => {
      const { before, after } = plansWith(definition);
      const always = folded(after, ...repeated);
      const memory = folded(before, ...repeated.slice(0, 40));
      foldedInto(memory, after, repeated.slice(40, 50));
      memory.runTimers(() => liveAt3(), AT + 4 * DAY);
      memory.scan(() => liveAt3(), AT + 4 * DAY);
      foldedInto(memory, liveAt3(), repeated.slice(50));
      assert.deepEqual(cellsIn(userOf(memory), after), cellsIn(userOf(always), after));
    });

    test(`of ${name} is whole after a merge of a profile that was scanned with one that was not`, () => {
      const anonymous = repeated.map(({ event, ...each }, at) => {
        const { userId: _, ...others } = event;
        return at % 2 === 0 ? { ...each, event } : { ...each, event: { ...others, anonymousId: 'a1' } as typeof event };
      });
      const link = eventOf({ type: 'identify', userId: 'u1', anonymousId: 'a1', at: AT + 3 * DAY });
      const { before, after } = plansWith(definition);
      const always = folded(after, ...anonymous, link);
      for (const kind of ['user', 'anonymous'] as const) {
        const memory = folded(before, ...anonymous);
        const [other] = [...memory.profiles.values()].filter((profile) => profile.kind !== kind);
        if (other === undefined) throw new Error('there are a user and a device');
        memory.profiles.delete(other.key);
        memory.scan(() => liveAt3(), AT + 3 * DAY);
        memory.profiles.set(other.key, other);
        foldedInto(memory, liveAt3(), [link]);
        assert.deepEqual(cellsIn(userOf(memory), after), cellsIn(userOf(always), after), kind);
      }
    });
  }

  test('by the minute, with rules, of a field or of any name is not in the tiles', () => {
    const isIn = (definition: Definition) => needsOf(definition).every(isInTiles);
    assert.ok(isIn(counted('30d')) && isIn(counted(undefined)));
    assert.ok(!isIn(counted('1h')));
    assert.ok(!isIn(counted('30d', { where: [{ field: 'properties.x', op: 'exists' }] })));
    assert.ok(!isIn(counted('30d', { sum: 'properties.x' })));
    assert.ok(!isIn({ kind: 'audience', name: 'A', when: { type: 'page', window: '30d', atLeast: 1 } }));
  });
});

suite('slots', () => {
  test('are shared by conditions that count the same, if it is kept long enough', () => {
    const [month] = assignSlots(counted('30d'), [], 1);
    if (month === undefined) throw new Error('a count is a measure');
    assert.deepEqual(assignSlots(counted('7d'), [month], 2), [month]);
    assert.equal(assignSlots(counted('60d'), [month], 2)[0]?.slot, 2, 'it keeps 30 days only');
    assert.equal(assignSlots(counted('100d'), [month], 2)[0]?.slot, 2, 'other buckets');
    assert.equal(assignSlots(counted('30d', { event: 'F' }), [month], 2)[0]?.slot, 2);
    assert.equal(assignSlots({ ...counted('30d'), sources: ['s'] }, [month], 2)[0]?.slot, 2);
  });

  test('are one a measure and not one a leaf', () => {
    const leaf = (window: string) => ({ event: 'E', window, atLeast: 1 });
    const made = assignSlots(
      { kind: 'audience', name: 'A', when: { any: [leaf('7d'), leaf('30d'), leaf('1d')] } },
      [],
      5,
    );
    assert.deepEqual(
      made.map(({ slot, keepMs }) => [slot, keepMs / DAY]),
      [
        [5, 30],
        [6, 1],
      ],
    );
  });

  test('of deleted definitions are dropped, those of newer ones are kept', () => {
    const memory = folded(planOf(OLD, counted('30d')), eventOf());
    const records = (plan: Plan) => {
      foldedInto(memory, plan, [eventOf({ event: 'Other' })]);
      return decodeState(userOf(memory).state).records.map(({ slot }) => slot);
    };
    const [old, made] = definitionsInPlan([OLD, counted('30d')]);
    if (old === undefined || made === undefined) throw new Error('two definitions were made');
    assert.deepEqual(
      records(compilePlan([old], 2)),
      [1, 2],
      'slot 2 may be of a definition that this reader has not met',
    );
    assert.deepEqual(records(compilePlan([made], 3)), [2]);
  });
});
