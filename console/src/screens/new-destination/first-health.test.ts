import assert from 'node:assert/strict';
import { test } from 'node:test';
import { healthOf, nextLookMs } from './first-health.ts';

const health = (counts: object) => ({
  lane: null,
  lastHour: { delivered: 0, retry: 0, discarded: 0, expired: 0, skipped: 0, ...counts },
});

test('a destination is healthy from its first delivery on', () => {
  assert.equal(healthOf(undefined).state, 'waiting');
  assert.equal(
    healthOf(health({ skipped: 4 })).rest,
    'It waits for the first event that passes. The rules held back 4 events so far.',
  );
  assert.deepEqual(healthOf(health({ delivered: 1 })), {
    state: 'delivered',
    words: 'Healthy.',
    rest: 'It took 1 delivery.',
  });
  assert.equal(healthOf(health({ discarded: 2 })).state, 'givenup');
  assert.equal(healthOf(health({ delivered: 2, retry: 2 })).state, 'retrying');
});

test('the wizard looks until the destination is healthy, and for five minutes at most', () => {
  assert.equal(nextLookMs(undefined, 0), 2_000);
  assert.equal(nextLookMs(health({ discarded: 2 }), 149), 2_000);
  assert.equal(nextLookMs(health({ discarded: 2 }), 150), false);
  assert.equal(nextLookMs(health({ delivered: 1 }), 1), false);
});
