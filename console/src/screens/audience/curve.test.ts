import assert from 'node:assert/strict';
import { test } from 'node:test';
import { everyStep } from './curve.ts';

const at = (minute: number) => new Date(Date.parse('2026-11-16T10:00:00.000Z') + minute * 60_000).toISOString();

test('a size holds until the next change, and the last step is now', () => {
  const points = [
    { at: at(1), size: 5 },
    { at: at(3), size: 7 },
  ];
  assert.deepEqual(everyStep({ from: at(0), to: at(5), step: 60, points }, 9).values, [null, 5, 5, 7, 7, 9]);
});

test('a change between two steps belongs to the step that it falls in', () => {
  const points = [{ at: '2026-11-16T10:01:30.000Z', size: 3 }];
  assert.deepEqual(everyStep({ from: at(0), to: at(2), step: 60, points }, 3).values, [null, 3, 3]);
});
