import assert from 'node:assert/strict';
import { suite, test } from 'node:test';
import type { Findings } from '../run-fault.ts';
import { judgeLatency, type LatencyBound } from './judge-latency.ts';
import { judgePredictions } from './judge-predictions.ts';

const BOUND: LatencyBound = { floorMs: 0, maxP99Ms: 500, lateMs: 1_000 };

suite('the verdict on what others notice', () => {
  const judged = (quietMs: number, duringMs: number, bound = BOUND) =>
    lateOnly(judgeLatency({ name: 'healthy', quiet: [timed(quietMs)], during: [timed(duringMs)], bound }));

  test('is green within twice the quiet p99', () => assert.deepEqual(judged(10, 20), []));
  test('is green within as many times the quiet p99 as the bound says', () => {
    assert.deepEqual(judged(10, 30, { ...BOUND, times: 3 }), []);
    assert.match(judged(10, 31, { ...BOUND, times: 3 }).join(), /over 30 ms/);
  });
  test('is green below the floor', () => assert.deepEqual(judged(10, 200, { ...BOUND, floorMs: 250 }), []));
  test('is green when the machine itself was that late, and only then', () => {
    const noisy = { name: 'healthy', quiet: [timed(10)], during: [timed(200)], bound: { ...BOUND, hops: 8 } };
    assert.deepEqual(lateOnly(judgeLatency({ ...noisy, machineLateMs: 25 })), []);
    assert.equal(lateOnly(judgeLatency({ ...noisy, machineLateMs: 20 })).length, 1);
    assert.equal(lateOnly(judgeLatency({ ...noisy, bound: BOUND, machineLateMs: 25 })).length, 1);
  });
  test('is late over twice the quiet p99', () => assert.match(judged(10, 21).join(), /p99 was 21 ms, over 20 ms/));
  test('is late over the cap, however slow it was before', () => assert.match(judged(400, 501).join(), /over 500 ms/));
  test('is late when one is', () => {
    const during = [...Array.from({ length: 200 }, () => timed(5)), timed(1_001)];
    const judged = judgeLatency({ name: 'healthy', quiet: [timed(5)], during, bound: BOUND });
    assert.deepEqual(lateOnly(judged), ['healthy: one came 1001 ms late']);
  });
  test('is red when nothing was measured', () => {
    const { failures } = judgeLatency({ name: 'healthy', quiet: [timed(5)], during: [], bound: BOUND });
    assert.match(failures.join(), /nothing was measured/);
  });
});

suite('the verdict on predictions', () => {
  const drain = { startedAt: 0, clearedAt: 100_000 };

  test('is green when all were within 30 %', () => {
    const predictions = [
      { at: 50_000, clearInMs: 64_000 },
      { at: 60_000, clearInMs: 29_000 },
    ];
    assert.deepEqual(lateOnly(judgePredictions({ ...drain, predictions })), []);
  });
  test('is late when one was not', () => {
    const predictions = [
      { at: 50_000, clearInMs: 50_000 },
      { at: 60_000, clearInMs: 27_000 },
    ];
    assert.match(lateOnly(judgePredictions({ ...drain, predictions })).join(), /1 of 2 predictions/);
  });
  test('is red when there was none', () => {
    assert.match(judgePredictions({ ...drain, predictions: [] }).failures.join(), /nobody was told/);
  });
});

/** Nothing that is not about time may be among it: CI would turn red at once. */
function lateOnly({ failures, late }: Findings): string[] {
  assert.deepEqual(failures, []);
  return late;
}

function timed(ms: number) {
  return { startedAt: 0, endedAt: ms };
}
