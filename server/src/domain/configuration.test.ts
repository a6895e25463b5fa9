import assert from 'node:assert/strict';
import { suite, test } from 'node:test';
import { CELL_PLACES, placeOfCell, samePlace } from './configuration.ts';

suite('the place of a cell', () => {
  test('comes from its name and stays as it is for good: numbers that people keep hold it', () => {
    assert.deepEqual(['main', 'eu', 'us'].map(placeOfCell), [0, 288, 502]);
  });

  test('is within the room of a number, and two names with one place are found', () => {
    const names = Array.from({ length: CELL_PLACES + 1 }, (_, index) => `cell-${index}`);
    for (const name of names) assert.ok(placeOfCell(name) > 0 && placeOfCell(name) < CELL_PLACES, name);
    const [one = '', other = ''] = samePlace(names) ?? [];
    assert.notEqual(one, other);
    assert.equal(placeOfCell(one), placeOfCell(other));
    assert.equal(samePlace(['main', 'eu', 'us']), undefined);
  });
});
