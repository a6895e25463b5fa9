import assert from 'node:assert/strict';
import { suite, test } from 'node:test';
import { judgeGrowth, LEAST_MINUTES } from './judge-growth.ts';
import type { Sample } from './series.ts';

const MINUTES = 60;

function samplesOf(series: string, valueAt: (minute: number) => number): Sample[] {
  return Array.from({ length: MINUTES }, (_, minute) => ({ minute, values: { [series]: valueAt(minute) } }));
}

suite('the growth in a slice', () => {
  test('is noticed when memory grows by more than a fifth and 32 MB', () => {
    const [growth] = judgeGrowth(
      samplesOf('memory of deliver', (minute) => 100 + 2 * minute),
      MINUTES,
    );
    assert.deepEqual(growth, { series: 'memory of deliver', early: 144, late: 204, hasGrown: false });
    const [more] = judgeGrowth(
      samplesOf('memory of deliver', (minute) => 100 + 3 * minute),
      MINUTES,
    );
    assert.equal(more?.hasGrown, true);
  });

  test('is no growth when a process warms up, or has a peak', () => {
    const warmUp = samplesOf('memory of collect', (minute) => Math.min(250, 80 + 20 * minute));
    const peak = samplesOf('sockets of deliver', (minute) => (minute === 50 ? 4_000 : 60));
    for (const samples of [warmUp, peak]) assert.equal(judgeGrowth(samples, MINUTES)[0]?.hasGrown, false);
  });

  test('is expected of what is stored by request', () => {
    const samples = samplesOf('event streams', (minute) => 10 * minute);
    assert.equal(judgeGrowth(samples, MINUTES)[0]?.hasGrown, false);
  });

  test('is not judged in a slice that is too short', () => {
    assert.deepEqual(
      judgeGrowth(
        samplesOf('lanes', (minute) => minute * 100),
        LEAST_MINUTES - 1,
      ),
      [],
    );
  });
});
