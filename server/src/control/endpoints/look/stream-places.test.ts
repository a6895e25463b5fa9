import assert from 'node:assert/strict';
import { suite, test } from 'node:test';
import type { ReaderCells } from '../../../stream/events/stored-events.ts';
import { readPlaces, writePlaces } from './stream-places.ts';

const cellsOf = (key: string): ReaderCells => ({
  count: key.split('-').length,
  key,
  own: (stream) => stream,
  save: (stream) => stream,
  load: (saved) => saved,
});

suite('the places of a cursor', () => {
  test('come back, as many as three cells with all their streams have', () => {
    const numbers = Array.from({ length: 3 + 3 * 64 }, (_, index) => index);
    const reader = { cells: cellsOf('0-288-502') };
    assert.deepEqual(readPlaces(writePlaces(numbers, reader), reader), numbers);
    assert.deepEqual(readPlaces(writePlaces([1, 2, 3], {}), {}), [1, 2, 3]);
  });

  test('are refused where other cells are named: they would be those of other streams', () => {
    const text = writePlaces([1, 2, 3], { cells: cellsOf('0-288') });
    for (const reader of [{ cells: cellsOf('0-502') }, { cells: cellsOf('0-288-502') }, {}])
      assert.deepEqual(readPlaces(text, reader), []);
    assert.deepEqual(readPlaces(writePlaces([1, 2, 3], {}), { cells: cellsOf('0-288') }), []);
    for (const odd of ['', 'a', '1 2 x', '1  2', ' of 0-288']) assert.deepEqual(readPlaces(odd, {}), []);
  });
});
