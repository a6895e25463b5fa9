import assert from 'node:assert/strict';
import { suite, test } from 'node:test';
import { expectTransitions, orderCall, visitCall } from './audience-plan.ts';
import { type Heard, judgeTransitions, type Outcome } from './judge-transitions.ts';
import { seededRandom } from '../seeded-random.ts';

const ENDS_AT = 1_000_000;

const heardAs = (pair: string, sequence: number, value: boolean, webhookId = `${pair} ${sequence}`): Heard => ({
  pair,
  sequence,
  value,
  webhookId,
  at: ENDS_AT,
});

/** A visitor who came and left, and a regular. */
const GOOD: Outcome = {
  expected: new Map([
    ['v1 visitors', { sequence: 2, value: false }],
    ['u1 regulars', { sequence: 1, value: true }],
  ]),
  changes: [
    { pair: 'v1 visitors', sequence: 1, value: true },
    { pair: 'v1 visitors', sequence: 2, value: false },
    { pair: 'u1 regulars', sequence: 1, value: true },
  ],
  memberships: [{ pair: 'u1 regulars', value: true }],
  heard: [heardAs('v1 visitors', 1, true), heardAs('v1 visitors', 2, false), heardAs('u1 regulars', 1, true)],
  visitsEndAt: ENDS_AT,
};

const failuresOf = (change: Partial<Outcome>) => judgeTransitions({ ...GOOD, ...change }).failures;

suite('transitions', () => {
  test('are good when all are there, repeated calls included, and those that coalesced missing', () => {
    assert.deepEqual(failuresOf({}), []);
    const again = heardAs('u1 regulars', 1, true);
    assert.equal(judgeTransitions({ ...GOOD, heard: [...GOOD.heard, again] }).figures['repeated'], 1);
    assert.deepEqual(failuresOf({ heard: GOOD.heard.slice(2) }), [], 'who came and left need not be told');
  });

  test('are wrong when one is missing, doubled or of another value', () => {
    const [first, second, third] = GOOD.changes;
    assert.ok(first !== undefined && second !== undefined && third !== undefined);
    for (const changes of [
      [first, third],
      [...GOOD.changes, second],
      [first, { ...second, value: true }, third],
    ])
      assert.match(failuresOf({ changes }).join(), /history is not the expected/);
    assert.match(failuresOf({ expected: new Map() }).join(), /history is not the expected/);
  });

  test('are wrong when a membership is missing or surplus', () => {
    assert.match(failuresOf({ memberships: [] }).join(), /membership/);
    const surplus = { pair: 'v1 visitors', value: true };
    assert.match(failuresOf({ memberships: [...GOOD.memberships, surplus] }).join(), /membership/);
  });

  test('are wrong when the webhook heard too little, too much, too early or under another id', () => {
    const [entered, left, regular] = GOOD.heard;
    assert.ok(entered !== undefined && left !== undefined && regular !== undefined);
    assert.match(failuresOf({ heard: [entered, regular] }).join(), /knows another value/);
    assert.match(failuresOf({ heard: [...GOOD.heard, heardAs('u2 regulars', 1, true)] }).join(), /not in the history/);
    assert.match(failuresOf({ heard: [entered, { ...left, at: ENDS_AT - 1 }, regular] }).join(), /too early/);
    assert.match(failuresOf({ heard: [...GOOD.heard, heardAs('u1 regulars', 1, true, 'x')] }).join(), /webhook-id/);
  });
});

test('the expected transitions follow from the calls, repeated ones counted once', () => {
  const random = seededRandom(1);
  const orders = Array.from({ length: 6 }, (_, number) => ({ ...orderCall(random, number, 1), userId: 'u1' }));
  const expected = expectTransitions([...orders, visitCall(1, ENDS_AT)]);
  assert.deepEqual(expected.get('u1 orders'), { sequence: 6, value: 6 });
  assert.deepEqual(expected.get('u1 exactly_two'), { sequence: 2, value: false });
  assert.deepEqual(expected.get('v1 visitors'), { sequence: 2, value: false });
  assert.equal(expected.has('v1 orders'), false);
});
