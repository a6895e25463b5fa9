import assert from 'node:assert/strict';
import { test } from 'node:test';
import { waitAfter } from './keep-partitions.ts';

test('partitions that cannot be kept are tried again after a minute, then ever later, up to an hour', () => {
  const minutes = [1, 2, 3, 6, 7, 8, 2_000].map((failures) => waitAfter(failures) / 60_000);
  assert.deepEqual(minutes, [1, 2, 4, 32, 60, 60, 60]);
  assert.equal(waitAfter(0), 3_600_000);
});
