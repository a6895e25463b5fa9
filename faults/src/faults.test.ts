/** The faults that measure: they run alone. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { FAULTS, TIMELESS } from './catalog.ts';
import { PROMISES, testFaults } from './keep-promises.ts';

testFaults((name) => !TIMELESS.has(name));

test('every fault has a promise, and every promise a fault', () => {
  assert.deepEqual(Object.keys(PROMISES), [...FAULTS.keys()]);
  assert.deepEqual(
    [...TIMELESS].filter((name) => !FAULTS.has(name)),
    [],
  );
});
