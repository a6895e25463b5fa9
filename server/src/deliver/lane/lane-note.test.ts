import assert from 'node:assert/strict';
import { suite, test } from 'node:test';
import * as fc from 'fast-check';
import { forgetEmptyPlaces, moveHome, notePosition, positionIn, readLaneNote } from './lane-note.ts';

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

suite('the note of a lane whose home changes', () => {
  const noteOf = (next: object, home?: number) => readLaneNote(JSON.stringify({ next, home }));

  test('keeps each position with the stream that it is in', () => {
    const note = noteOf({ 1: { sequence: 7, taken: 2 }, 4_001: { sequence: 9, taken: 0 } }, 0);
    moveHome(note, 3, false);
    assert.deepEqual(note.next, { 1_001: { sequence: 7, taken: 2 }, 1: { sequence: 9, taken: 0 } });
    moveHome(note, 0, false);
    assert.deepEqual(note.next, { 1: { sequence: 7, taken: 2 }, 4_001: { sequence: 9, taken: 0 } });
  });

  test('keeps the stamp of a position with it', () => {
    const note = noteOf({}, 0);
    notePosition(note, 1, { sequence: 7, taken: 2, at: 500 });
    moveHome(note, 3, false);
    assert.deepEqual(positionIn(note, 1_001), { sequence: 7, taken: 2, at: 500 });
    assert.equal(positionIn(note, 1), undefined);
  });

  test('gives up positions whose stream is unknown, and keeps them where there is only one', () => {
    const [old, unknown] = [noteOf({ 1: { sequence: 7, taken: 2 } }), noteOf({ 1: { sequence: 7, taken: 2 } })];
    moveHome(old, 3, true);
    assert.deepEqual(old.next, { 1: { sequence: 7, taken: 2 } });
    moveHome(unknown, 3, false);
    assert.deepEqual(unknown.next, {}, 'a position of another stream would pass deliveries over');
  });

  test('keeps nothing of a former home that is empty', () => {
    const note = noteOf(
      { 1: { sequence: 7, taken: 2 }, 4_001: { sequence: 9, taken: 0 }, 4_002: { sequence: 5, taken: 1 } },
      0,
    );
    forgetEmptyPlaces(note, new Map([[4_002, 1]]));
    assert.deepEqual(note.next, { 1: { sequence: 7, taken: 2 }, 4_002: { sequence: 5, taken: 1 } });
  });
});

const NOTE = { failedProbes: 1, next: { 0: { sequence: 1, taken: 0 } }, sizes: {}, perSecond: 1 };
const EMPTY = { failedProbes: 0, next: {}, sizes: {}, perSecond: 0 };

suite('what the last holder of a ticket wrote down', () => {
  test('is read as it was written', () => {
    assert.deepEqual(readLaneNote(JSON.stringify(NOTE)), NOTE);
  });

  test('is as good as none when it cannot be read', () => {
    for (const text of [
      '',
      '{',
      '3',
      '{"next":{"0":{"sequence":"5"}}}',
      '{"sizes":7}',
      '{"stamped":{"0":7}}',
      '{"home":"0"}',
      '{"failedProbes":"many"}',
    ]) {
      assert.deepEqual(readLaneNote(text), EMPTY, text);
    }
  });

  test('may be anything, and nothing throws', () => {
    const changed = fc
      .tuple(fc.constantFrom(...Object.keys(NOTE)), fc.jsonValue())
      .map(([field, value]) => JSON.stringify({ ...NOTE, [field]: value }));
    fc.assert(fc.property(fc.oneof(fc.string(), fc.json(), changed), (text) => void readLaneNote(text)));
  });
});
