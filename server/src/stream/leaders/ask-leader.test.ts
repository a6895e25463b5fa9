import assert from 'node:assert/strict';
import { test } from 'node:test';
import { isLed } from './ask-leader.ts';

const SECOND_NS = 1_000_000_000;

/** How many seconds ago the leader heard of each of its followers. */
function ledBy(leader: string | undefined, ...secondsAgo: number[]) {
  const replicas = secondsAgo.map((seconds) => ({ active: seconds * SECOND_NS }));
  return { cluster: { ...(leader !== undefined && { leader }), replicas } };
}

test('a leader that hears of most of its followers is one', () => {
  assert.equal(isLed(ledBy('n1', 0.4, 0.4)), true);
  assert.equal(isLed(ledBy('n1', 0.4, 90)), true);
  assert.equal(isLed(ledBy('n1', 0.4, 0.4, 90, 90)), true);
});

test('a leader that hears of too few followers is none any more', () => {
  assert.equal(isLed(ledBy('n1', 3.1, 3.2)), false);
  assert.equal(isLed(ledBy('n1', 0.4, 90, 90, 90)), false);
});

test('a follower that knows no leader is none', () => {
  assert.equal(isLed(ledBy(undefined, 0.4, 0.4, 0.4)), false);
});

test('a stream of one copy and a single server have no followers to hear of', () => {
  assert.equal(isLed(ledBy('n1')), true);
  assert.equal(isLed({}), true);
});

test('of the errors only the one that there is no leader means that', () => {
  assert.equal(isLed({ error: { code: 503 } }), false);
  assert.equal(isLed({ error: { code: 404 } }), true);
});
