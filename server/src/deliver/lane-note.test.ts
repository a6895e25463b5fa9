import assert from 'node:assert/strict';
import { suite, test } from 'node:test';
import { notePosition, positionIn, readLaneNote } from './lane-note.ts';

suite('a place in a lane that is written down', () => {
  test('is read with its stamp', () => {
    const note = readLaneNote('');
    notePosition(note, 2, { sequence: 7, taken: 1, at: 500 });
    const read = readLaneNote(JSON.stringify(note));
    assert.deepEqual(positionIn(read, 2), { sequence: 7, taken: 1, at: 500 });
    assert.deepEqual(read.next, { 2: { sequence: 7, taken: 1 } }, 'as every version reads it');
    assert.equal(positionIn(read, 3), undefined);
  });

  test('is read without the stamp of another place, when a version that knows no stamps has moved on', () => {
    const note = readLaneNote('');
    notePosition(note, 2, { sequence: 7, taken: 1, at: 500 });
    note.next[2] = { sequence: 9, taken: 0 };
    assert.deepEqual(positionIn(readLaneNote(JSON.stringify(note)), 2), { sequence: 9, taken: 0 });
  });
});
