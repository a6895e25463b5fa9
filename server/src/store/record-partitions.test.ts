import assert from 'node:assert/strict';
import { suite, test } from 'node:test';
import { partitionSize } from './record-partitions.ts';

/** As PostgreSQL has them without settings. */
const LOCKS = 6_400;
const at = (perSecond: number, locks = LOCKS) => ({ rowsPerDay: perSecond * 86_400, locks });

suite('the size of a partition of the record', () => {
  test('is a day while that is neither much nor kept for long', () => {
    assert.deepEqual(partitionSize(at(0), 7), { days: 1, parts: 1 });
    assert.deepEqual(partitionSize(at(200), 7), { days: 1, parts: 1 });
  });

  test('is several days where few rows are kept for long', () => {
    assert.deepEqual(partitionSize(at(1), 400), { days: 12, parts: 1 });
    assert.deepEqual(partitionSize(at(100), 400), { days: 2, parts: 1 });
  });

  test('is a part of a day where rows are many, and never makes too many partitions for the locks of a question', () => {
    assert.deepEqual(partitionSize(at(1_000), 7), { days: 1, parts: 8 });
    assert.deepEqual(partitionSize(at(10_000), 7), { days: 1, parts: 8 });
    assert.deepEqual(partitionSize(at(10_000, 4 * LOCKS), 7), { days: 1, parts: 32 });
    assert.deepEqual(partitionSize(at(10_000), 30), { days: 1, parts: 2 });
    assert.deepEqual(partitionSize(at(10_000), 400), { days: 1, parts: 1 });
  });
});
