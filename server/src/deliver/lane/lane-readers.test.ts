import assert from 'node:assert/strict';
import { suite, test } from 'node:test';
import { tierNumber } from '../../stream/layout/lane-places.ts';
import { readLaneNote } from './lane-note.ts';
import { openReaders } from './lane-readers.ts';
import { retrySchedule } from '../attempt/retry-schedule.ts';
import { openMemoryLane } from '../../../testing/memory-lane.ts';

const PARKED_AT = 1_000_000;
const TIER = 8;

suite('a tier in the former home of a lane', () => {
  test('keeps its delay: a retry is not due before its time because the number of lane streams changed', async () => {
    const schedule = retrySchedule(1);
    const dueAt = PARKED_AT + schedule.delayMs(TIER);
    const { lanes } = openMemoryLane({ 1: ['dlv_1'] }, { parkedAt: PARKED_AT, dueAt });
    for (const stream of [0, 1]) {
      const counts = new Map([[tierNumber({ tier: TIER, stream }, 0), 1]]);
      const [reader] = openReaders('dst_1', readLaneNote(''), { lanes, schedule, counts, uptimeMs: () => 0 });
      assert.equal((await reader?.head())?.dueAt, dueAt, `in stream ${stream}`);
    }
  });
});
