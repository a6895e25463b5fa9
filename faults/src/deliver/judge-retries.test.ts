import assert from 'node:assert/strict';
import { suite, test } from 'node:test';
import { retrySchedule } from '../../../server/src/deliver/attempt/retry-schedule.ts';
import { judgeRetries } from './judge-retries.ts';
import type { Arrival } from './read-arrival.ts';

function judge(...times: number[]) {
  const arrivals = times.map((at, index): Arrival => {
    const sent = { destinationId: 'dst_1', messageId: 'm1', sourceId: 'src_1', webhookId: 'w' };
    return { ...sent, attempt: index + 1, status: 500, at };
  });
  return judgeRetries(arrivals, retrySchedule(10));
}

suite('the time between two attempts', () => {
  test('is that of the schedule, with its jitter and a busy machine', () => {
    const { failures, late, figures } = judge(1_000, 1_500, 3_100, 9_000);
    assert.deepEqual([failures, late, figures['retries']], [[], [], 3]);
  });

  test('is too short when an attempt is made before its delay is over', () => {
    assert.equal(judge(1_000, 1_010).failures.length, 1);
  });

  test('is too long when a delivery waits for more than its tier', () => {
    const { failures, late } = judge(1_000, 1_500, 60_000);
    assert.deepEqual([failures.length, late.length], [0, 1]);
  });
});
