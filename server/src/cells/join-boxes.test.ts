import assert from 'node:assert/strict';
import { suite, test } from 'node:test';
import type { DeadLetterBox, StoredLetter } from '../stream/deliveries/dead-letter-box.ts';
import { type EventReader, loadStream } from '../stream/events/stored-events.ts';
import { type CellBox, joinLetters } from './join-boxes.ts';
import { type CellReader, joinEventReaders } from './join-event-readers.ts';

/** A box with the letters of one destination. */
function boxOf(name: string, ...sequences: number[]): CellBox<DeadLetterBox> {
  const letters = new Set(sequences);
  const letterOf = (sequence: number): StoredLetter => ({ sequence, destinationId: 'd', text: '', format: '' });
  const box: DeadLetterBox = {
    read: async (_, from, most) =>
      [...letters]
        .filter((each) => each >= from)
        .map(letterOf)
        .slice(0, most),
    readOne: async (sequence) => (letters.has(sequence) ? letterOf(sequence) : undefined),
    last: async () => Math.max(0, ...letters),
    counts: async () => new Map([['d', letters.size]]),
    bytes: async () => letters.size,
    remove: async (sequence) => void letters.delete(sequence),
    erase: async (sequence) => void letters.delete(sequence),
    setAside: async ({ sequence }) => letters.delete(sequence),
  };
  return { name, box: () => box };
}

suite('dead letters of several cells', () => {
  test('are read one cell after the other, and found again by their number', async () => {
    const box = joinLetters([boxOf('main', 3, 7), boxOf('us'), boxOf('eu', 3)]);
    const seen: number[] = [];
    for (let from = 1; ; ) {
      const letters = await box.read('d', from, 1);
      const last = letters.at(-1);
      if (last === undefined) break;
      seen.push(last.sequence);
      from = last.sequence + 1;
    }
    const [first, second, third = 0] = seen;
    assert.deepEqual([first, second, seen.length], [3, 7, 3]);
    assert.equal((await box.readOne(third))?.sequence, third);
    assert.ok((await box.last()) >= third);
    assert.deepEqual(await box.counts(), new Map([['d', 3]]));
    await box.remove(third);
    assert.equal(await box.readOne(third), undefined);
    assert.deepEqual(await box.counts(), new Map([['d', 2]]));
    assert.equal((await box.readOne(3))?.sequence, 3, 'the one with the same sequence in the first cell stays');
  });

  test('keep their numbers when another cell comes or goes, and none is taken for one of another cell', async () => {
    const all = joinLetters([boxOf('main'), boxOf('eu', 3), boxOf('us', 3)]);
    const first = (await all.read('d', 1, 9))[0]?.sequence ?? 0;
    const second = (await all.read('d', first + 1, 9))[0]?.sequence ?? 0;
    const numbers = [first, second];
    assert.ok(second > first && first > 0);
    const without = joinLetters([boxOf('main'), boxOf('us', 3)]);
    const found = await Promise.all(numbers.map(async (each) => (await without.readOne(each))?.sequence));
    assert.deepEqual(
      found.filter((each) => each !== undefined),
      (await without.read('d', 1, 9)).map((each) => each.sequence),
    );
    assert.ok(
      numbers.every((each) => each < 1e15),
      'within the 15 digits of a cursor',
    );
  });
});

suite('event streams of several cells', () => {
  const readerOf = (streams: number, name: string, asked: string[]): CellReader => {
    const reader: EventReader = {
      streams,
      ends: async (stream) => {
        asked.push(`${name}${stream}`);
        return { first: 1, last: 1 };
      },
      firstAt: async () => 1,
      read: async () => [],
    };
    return { name, reader: () => reader };
  };

  test('are one row, in which no stream is missing and none is asked that does not exist', async () => {
    const asked: string[] = [];
    const reader = joinEventReaders([readerOf(3, 'main', asked), readerOf(1, 'eu', asked)]);
    for (let stream = 0; stream < reader.streams; stream += 1) await reader.ends(stream);
    assert.deepEqual(asked.toSorted(), ['eu0', 'main0', 'main1', 'main2']);
  });

  test('have numbers to save that more streams and another cell do not change', () => {
    const two = joinEventReaders([readerOf(3, 'main', []), readerOf(3, 'eu', [])]).cells;
    const three = joinEventReaders([readerOf(9, 'main', []), readerOf(9, 'eu', []), readerOf(9, 'us', [])]).cells;
    for (let stream = 0; stream < 6; stream += 1) {
      const saved = two?.save(stream) ?? -1;
      assert.equal(two?.load(saved), stream);
      assert.equal(three?.save(three.load(saved) ?? -1), saved);
    }
    // A place that was saved before there was a second cell.
    assert.deepEqual([two?.save(two.load(2) ?? -1), (two?.load(2) ?? 1) % 2], [2, 0]);
  });

  test('are not taken for those of another cell when theirs is not named any more', () => {
    const before = joinEventReaders([readerOf(3, 'main', []), readerOf(3, 'eu', [])]).cells;
    const after = joinEventReaders([readerOf(3, 'main', []), readerOf(3, 'us', [])]).cells;
    const saved = [0, 1, 2, 3].map((stream) => before?.save(stream) ?? -1);
    assert.deepEqual(
      saved.map((each) => after?.load(each)),
      [0, undefined, 2, undefined],
    );
    assert.notEqual(before?.key, after?.key);
    const onlyMain = saved.map((each) => loadStream({}, each));
    assert.deepEqual(onlyMain, [0, undefined, 1, undefined], 'nor when main is the only cell that is left');
  });
});
