import assert from 'node:assert/strict';
import { suite, test } from 'node:test';
import type { Condition, Definition } from '@millrace/contract/audiences';
import { decodeState } from '../state/profile-state.ts';
import {
  AT,
  DAY,
  definitionsInPlan,
  eventOf,
  folded,
  foldedInto,
  HOUR,
  MINUTE,
  planOf,
  userOf,
  valuesOf,
} from '../../../testing/compute/plans.ts';
import { openMemoryProfiles } from '../../../testing/compute/memory-profiles.ts';
import { runTimers } from './advance-profiles.ts';
import { compilePlan } from './compile-plan.ts';
import { StalePlan } from './evaluate.ts';
import { readBatch } from './fold-batch.ts';

const audience = (when: Condition): Definition => ({ kind: 'audience', name: 'A', when });
const bought = (fields: object): Condition => ({ event: 'E', sum: 'properties.revenue', ...fields });

suite('a window', () => {
  test('ends at the minute, the hour or the day, with an exit at that very time', () => {
    for (const [window, end] of [
      ['90m', AT + MINUTE + 90 * MINUTE],
      ['7d', AT + HOUR + 7 * DAY],
      ['100d', AT + DAY / 2 + 100 * DAY],
    ] as const) {
      const plan = planOf(audience({ event: 'E', window, atLeast: 1 }));
      const memory = folded(plan, eventOf({ at: AT }));
      assert.equal(userOf(memory).dueAt, end);
      memory.runTimers(() => plan, end - 1);
      assert.deepEqual(valuesOf(memory), { 1: true });
      memory.runTimers(() => plan, end + DAY);
      assert.deepEqual(valuesOf(memory), {});
      const { at, cause, value, sequence, previous } = memory.transitions[1] ?? {};
      assert.deepEqual(
        { at, cause, value, sequence, previous },
        { at: end, cause: 'time', value: false, sequence: 2, previous: true },
      );
      assert.equal(userOf(memory).dueAt, undefined);
    }
  });

  test('lets a late event in if it still counts, and ignores it if not', () => {
    const plan = planOf(audience({ event: 'E', window: '7d', atLeast: 1 }));
    assert.deepEqual(valuesOf(folded(plan, eventOf({ at: AT - 8 * DAY, receivedAt: AT }))), {});
    const memory = folded(plan, eventOf({ at: AT - 6 * DAY, receivedAt: AT }));
    assert.equal(userOf(memory).dueAt, AT - 6 * DAY + HOUR + 7 * DAY);
  });

  test('counts an event from the future as of its receipt', () => {
    const plan = planOf(audience({ event: 'E', window: '7d', atLeast: 1 }));
    assert.equal(userOf(folded(plan, eventOf({ at: AT + 9 * DAY, receivedAt: AT }))).dueAt, AT + HOUR + 7 * DAY);
  });
});

suite('the timer', () => {
  test('waits for the condition and not for every bucket that leaves', () => {
    const plan = planOf(audience({ event: 'E', window: '90m', atLeast: 2 }));
    const events = [0, 1, 2, 3].map((n) => eventOf({ at: AT + n * 10 * MINUTE }));
    // The third and the fourth are enough until the third leaves.
    const memory = openMemoryProfiles();
    for (const event of events) foldedInto(memory, plan, [event]);
    memory.runTimers(() => plan, userOf(memory).dueAt ?? 0);
    assert.equal(userOf(memory).dueAt, AT + 20 * MINUTE + MINUTE + 90 * MINUTE);
  });

  test('is not set for what no passing of time can change', () => {
    const plan = planOf(
      audience({
        all: [
          { event: 'E', window: '7d', atLeast: 1 },
          { event: 'never', atLeast: 1 },
        ],
      }),
      audience({
        any: [
          { event: 'E', window: '7d', atLeast: 1 },
          { event: 'E', atLeast: 1 },
        ],
      }),
      audience({ event: 'E', window: '7d', atLeast: 5 }),
      audience({ event: 'E', between: { from: '2026-01-01', to: '2027-01-01' }, atLeast: 1 }),
    );
    const memory = folded(plan, eventOf());
    assert.deepEqual(valuesOf(memory), { 2: true, 4: true });
    assert.equal(userOf(memory).dueAt, undefined);
  });

  test('stays where it is while events come, until it finds nothing to do', () => {
    const plan = planOf(audience({ event: 'E', window: '7d', atLeast: 1 }));
    const memory = folded(plan, eventOf({ at: AT }), eventOf({ at: AT + DAY }));
    assert.equal(userOf(memory).dueAt, AT + HOUR + 7 * DAY);
    memory.runTimers(() => plan, AT + HOUR + 7 * DAY);
    assert.equal(userOf(memory).dueAt, AT + DAY + HOUR + 7 * DAY);
    assert.equal(memory.transitions.length, 1);
  });

  test('that is not due changes nothing', () => {
    const plan = planOf(audience({ event: 'E', window: '7d', atLeast: 1 }));
    assert.deepEqual(
      runTimers([userOf(folded(plan, eventOf()))], () => plan, AT),
      { profiles: [], links: [], transitions: [] },
    );
  });

  test('is taken away from a profile without definitions, so that others have their turn', () => {
    const plan = planOf(audience({ event: 'E', window: '7d', atLeast: 1 }));
    const stored = userOf(folded(plan, eventOf()));
    const { profiles, transitions } = runTimers([stored], () => undefined, AT + 8 * DAY);
    assert.deepEqual([profiles, transitions], [[{ ...stored, dueAt: undefined }], []]);
  });
});

suite('a condition', () => {
  test('on events that never came holds for all profiles', () => {
    const plan = planOf(
      audience({ not: { event: 'never', atLeast: 1 } }),
      audience({ event: 'never', exactly: 0 }),
      audience({ event: 'never', sum: 'properties.x', lessThan: 5 }),
      audience({ event: 'never', max: 'properties.x', lessThan: 5 }),
      audience({ trait: 'plan', op: 'not_exists' }),
    );
    assert.deepEqual(
      valuesOf(folded(plan, eventOf())),
      { 1: true, 2: true, 3: true, 5: true },
      'but nothing has no greatest value',
    );
  });

  test('compares sums exactly, whatever their size and order', () => {
    const revenue = (...values: number[]) => values.map((value) => eventOf({ properties: { revenue: value } }));
    const holds = (when: Condition, ...values: number[]) =>
      valuesOf(folded(planOf(audience(when)), ...revenue(...values)))['1'] === true;
    assert.ok(holds(bought({ exactly: 0.3 }), 0.1, 0.2), '0.1 + 0.2 is 0.3');
    assert.ok(holds(bought({ exactly: 1 }), 9e14, 1, -9e14), 'beyond 2^53 millionths');
    assert.ok(holds(bought({ exactly: 5 }), 5, 1e16), 'no measurement is that large');
    assert.ok(holds({ event: 'E', average: 'properties.revenue', exactly: 0.2 }, 0.1, 0.3));
    assert.ok(
      holds({ event: 'E', average: 'properties.revenue', atLeast: 1 / 3 }, 0, 0, 1),
      'bounds are millionths too',
    );
  });

  test('on an audience follows it, in one evaluation', () => {
    const plan = planOf(
      audience({ event: 'E', window: '7d', atLeast: 1 }),
      audience({ not: { audience: 'd1' } }),
      audience({ all: [{ not: { audience: 'd2' } }, { event: 'E', atLeast: 1 }] }),
    );
    const memory = folded(plan, eventOf({ event: 'other' }));
    assert.deepEqual(valuesOf(memory), { 2: true });
    foldedInto(memory, plan, [eventOf()]);
    assert.deepEqual(valuesOf(memory), { 1: true, 3: true });
    memory.runTimers(() => plan, AT + 8 * DAY);
    assert.deepEqual(valuesOf(memory), { 2: true });
    assert.deepEqual(new Set(memory.transitions.slice(-3).map(({ at }) => at)), new Set([AT + HOUR + 7 * DAY]));
  });

  test('looks at the chosen sources only', () => {
    const plan = planOf(
      { kind: 'audience', name: 'A', sources: ['src_1'], when: { event: 'E', atLeast: 1 } },
      { kind: 'audience', name: 'B', sources: ['src_1'], when: { trait: 'plan', op: 'exists' } },
    );
    const identify = { type: 'identify', traits: { plan: 'pro' } };
    assert.deepEqual(
      valuesOf(folded(plan, eventOf({ source: 'src_2' }), eventOf({ source: 'src_2', ...identify }))),
      {},
    );
    assert.deepEqual(valuesOf(folded(plan, eventOf(), eventOf(identify))), { 1: true, 2: true });
  });

  test('takes the newest value of a trait, also when an older one comes later', () => {
    const plan = planOf(audience({ trait: 'plan', op: 'equals', value: 'pro' }));
    const identify = (value: string | null, at: number) =>
      eventOf({ type: 'identify', traits: { plan: value }, at, receivedAt: AT });
    assert.deepEqual(valuesOf(folded(plan, identify('pro', AT - 5), identify('free', AT - 10))), { 1: true });
    assert.deepEqual(valuesOf(folded(plan, identify('pro', AT - 5), identify(null, AT - 1))), {});
  });
});

suite('definitions that change', () => {
  const [first, second] = definitionsInPlan([
    audience({ event: 'E', atLeast: 2 }),
    audience({ event: 'other', atLeast: 1 }),
  ]);
  if (first === undefined || second === undefined) throw new Error('two definitions were made');
  const before = compilePlan([first, second], 1);
  const edited = { ...first, definition: audience({ event: 'E', atLeast: 1 }), version: 2, changed: 2 };
  const after = compilePlan([edited, second], 2);

  test('are evaluated for profiles that have not met them, and only the differences are told', () => {
    const memory = folded(before, eventOf());
    assert.deepEqual(valuesOf(memory), {});
    memory.scan(() => after, AT + 1);
    memory.scan(() => after, AT + 2);
    assert.deepEqual(
      memory.transitions.map(({ definition, cause, at, isFirstSync }) => ({ definition, cause, at, isFirstSync })),
      [{ definition: 1, cause: 'edit', at: AT + 1, isFirstSync: true }],
    );
  });

  test('are met with the next event too', () => {
    const memory = folded(before, eventOf());
    foldedInto(memory, after, [eventOf({ event: 'other' })]);
    assert.deepEqual(
      memory.transitions.map(({ definition, cause }) => [definition, cause]),
      [
        [1, 'edit'],
        [2, 'event'],
      ],
    );
  });

  test('are refused in an older version than a profile has met', () => {
    const memory = folded(after, eventOf());
    assert.throws(() => foldedInto(memory, before, [eventOf()]), StalePlan);
  });

  test('let their members go when they are deleted, then leave nothing behind', () => {
    const memory = folded(after, eventOf());
    memory.scan(() => compilePlan([{ ...edited, use: 'leaving', changed: 3 }, second], 3), AT + 1);
    assert.deepEqual(valuesOf(memory), {});
    memory.forget(1);
    foldedInto(memory, compilePlan([second], 4), [eventOf({ event: 'other' })]);
    const { held, records } = decodeState(userOf(memory).state);
    assert.ok(!held.some(({ definition }) => definition === 1));
    assert.ok(records.every(({ slot }) => second.measures.some((measure) => measure.slot === slot)));
  });
});

test('time does not go backwards for a profile', () => {
  const plan = planOf(audience({ event: 'E', window: '1d', atLeast: 1 }));
  const memory = folded(plan, eventOf({ event: 'other', at: AT + 3 * DAY }), eventOf({ at: AT, receivedAt: AT }));
  assert.deepEqual(memory.transitions, [], 'a reader that lags cannot let anyone into the past');
});

test('transitions of anonymous profiles are told only if they are asked for', () => {
  const plan = planOf(audience({ event: 'E', atLeast: 1 }), {
    ...audience({ event: 'E', atLeast: 1 }),
    includeAnonymous: true,
    settleSeconds: 5,
  });
  const { transitions } = readBatch([eventOf({ anonymousId: 'a1' })], () => plan).fold({
    links: new Map(),
    profiles: new Map(),
  });
  assert.deepEqual(
    transitions.map(({ sendAt }) => sendAt),
    [undefined, AT + 5_000],
  );
});
