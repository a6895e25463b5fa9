import assert from 'node:assert/strict';
import { suite, test } from 'node:test';
import { addMonths, daysOf, monthOf, monthWords, readMonth } from './months.ts';

suite('months', () => {
  test('are in UTC, and follow each other over the year', () => {
    assert.equal(monthOf(Date.parse('2026-11-30T23:59:59Z')), '2026-11');
    assert.deepEqual([addMonths('2026-12', 1), addMonths('2026-01', -1)], ['2027-01', '2025-12']);
    assert.equal(monthWords('2026-11'), 'November\u00a02026');
  });

  test('have all their days', () => {
    assert.equal(daysOf('2028-02').length, 29);
    assert.deepEqual([daysOf('2026-11')[0], daysOf('2026-11').at(-1)], ['2026-11-01', '2026-11-30']);
  });

  test('are only taken from a URL when they are months', () => {
    assert.deepEqual(['2026-11', '2026-13', '<b>', undefined].map(readMonth), [
      '2026-11',
      undefined,
      undefined,
      undefined,
    ]);
  });
});
