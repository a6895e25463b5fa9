import assert from 'node:assert/strict';
import { suite, test } from 'node:test';
import { attempted } from '../../../testing/outcomes.ts';
import { openLog } from '../../log.ts';
import type { Outcomes } from '../../stream/deliveries/outcomes.ts';
import { openRecorder } from './outcome-log.ts';

const log = openLog({ level: 'silent', pretty: false });

function openBed() {
  const batches: number[] = [];
  const outcomes: Outcomes = {
    format: 'whole',
    homeOf: () => 0,
    async append(batch) {
      batches.push((JSON.parse(batch) as { entries: unknown[] }).entries.length);
      return 'stored';
    },
  };
  return { batches, recorder: openRecorder({ outcomes, log }) };
}

suite('outcomes', () => {
  test('are stored together, and each is told when its batch is', async () => {
    const { batches, recorder } = openBed();
    using _ = recorder;
    await Promise.all(Array.from({ length: 5 }, () => recorder.record(attempted(1, 'delivered', 200))));
    assert.deepEqual(batches, [5]);
  });

  test('of a burst are stored before the time is over', () => {
    const { batches, recorder } = openBed();
    using _ = recorder;
    // No timer can end in this turn of the event loop: only their number stores them.
    while (batches.length < 3) void recorder.record(attempted(1, 'delivered', 200));
    assert.ok(batches.every((entries) => entries >= 16));
  });
});
