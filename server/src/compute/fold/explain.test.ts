import assert from 'node:assert/strict';
import { suite, test } from 'node:test';
import type { Definition } from '@millrace/contract/audiences';
import { AT, DAY, eventOf, folded, HOUR, planOf, userOf } from '../../../testing/compute/plans.ts';
import { explainValue, lastEventsOf } from './explain.ts';

const BIG_SPENDERS: Definition = {
  kind: 'audience',
  name: 'Big spenders',
  when: {
    all: [
      { event: 'E', sum: 'properties.revenue', window: '30d', atLeast: 500 },
      { not: { event: 'Refund', window: '7d', atLeast: 1 } },
      { trait: 'plan', op: 'one_of', values: ['pro', 'team'] },
    ],
  },
};

suite('why a user is in an audience', () => {
  const plan = planOf(BIG_SPENDERS, { kind: 'audience', name: 'B', when: { audience: 'd1' } });
  const memory = folded(
    plan,
    eventOf({ properties: { revenue: 300.5 }, at: AT - 20 * DAY, receivedAt: AT }),
    eventOf({ properties: { revenue: 400 } }),
    eventOf({ event: 'Refund', at: AT - 9 * DAY, receivedAt: AT }),
    eventOf({ type: 'identify', traits: { plan: 'pro' } }),
  );

  test('says the value, the verdict and the end of each leaf', () => {
    const found = explainValue(userOf(memory), plan, 1, AT);
    assert.deepEqual(
      found?.leaves.map(({ path, value, holds, changesAt }) => ({ path, value, holds, changesAt })),
      [
        { path: '/all/0', value: 700.5, holds: true, changesAt: AT - 20 * DAY + HOUR + 30 * DAY },
        { path: '/all/1/not', value: 0, holds: false, changesAt: undefined },
        { path: '/all/2', value: 'pro', holds: true, changesAt: undefined },
      ],
    );
    assert.deepEqual([found?.value, found?.sequence, found?.changesAt], [true, 1, AT - 20 * DAY + HOUR + 30 * DAY]);
  });

  test('follows the audiences that it asks for', () => {
    const found = explainValue(userOf(memory), plan, 2, AT);
    assert.deepEqual(found?.leaves[0], {
      path: '',
      leaf: { audience: 'd1' },
      value: true,
      holds: true,
      changesAt: AT - 20 * DAY + HOUR + 30 * DAY,
    });
  });

  test('is unknown for a definition that is not evaluated', () => {
    assert.equal(explainValue(userOf(memory), plan, 99, AT), undefined);
  });
});

test('a computed trait has its value, its end, and says when its list is capped', () => {
  const plan = planOf({
    kind: 'trait',
    name: 'T',
    compute: 'unique_count',
    event: 'E',
    field: 'properties.sku',
    window: '1d',
  });
  const events = Array.from({ length: 101 }, (_, sku) => eventOf({ properties: { sku } }));
  assert.deepEqual(explainValue(userOf(folded(plan, ...events)), plan, 1, AT), {
    value: 100,
    sequence: 100,
    changesAt: AT + 60_000 + DAY,
    isCapped: true,
    leaves: [],
  });
});

test('the last events of a leaf are those that it counts, newest first', () => {
  const leaf = {
    event: 'E',
    where: [{ field: 'properties.x', op: 'greater' as const, value: 1 }],
    window: '1d',
    atLeast: 1,
  };
  const event = (messageId: string, fields: object) => eventOf({ messageId, properties: { x: 2 }, ...fields });
  const events = [
    event('old', { at: AT - 2 * DAY }),
    event('first', { at: AT - 4 * HOUR }),
    event('third', { at: AT - 2 * HOUR }),
    event('second', { at: AT - 3 * HOUR }),
    event('fourth', { at: AT - HOUR }),
    event('small', { properties: { x: 1 } }),
    event('elsewhere', { source: 'src_2' }),
    event('other', { event: 'F' }),
  ];
  const found = lastEventsOf(leaf, { sources: ['src_1'] }, events, { now: AT, most: 3 });
  assert.deepEqual(
    found.map(({ messageId }) => messageId),
    ['fourth', 'third', 'second'],
  );
  const identify = eventOf({ messageId: 'i', type: 'identify', traits: { address: { city: 'Bern' } } });
  const asked = lastEventsOf({ trait: 'address.city', op: 'exists' }, {}, [identify, ...events], { now: AT, most: 3 });
  assert.deepEqual(
    asked.map(({ messageId }) => messageId),
    ['i'],
  );
});
