import assert from 'node:assert/strict';
import { suite, test } from 'node:test';
import type { DeadLetterBox, StoredLetter } from '../stream/deliveries/dead-letter-box.ts';
import type { EventReader } from '../stream/events/stored-events.ts';
import { joinLetters } from './join-boxes.ts';
import { joinEventReaders } from './join-event-readers.ts';

/** A box with the letters of one destination. */
function boxOf(...sequences: number[]): () => DeadLetterBox {
  const letters = new Set(sequences);
  const letterOf = (sequence: number): StoredLetter => ({ sequence, destinationId: 'd', text: '', format: '' });
  return () => ({
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
  });
}

suite('dead letters of several cells', () => {
  test('are read one cell after the other, and found again by their number', async () => {
    const box = joinLetters([boxOf(3, 7), boxOf(), boxOf(3)]);
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
    assert.equal(await box.last(), third);
    assert.deepEqual(await box.counts(), new Map([['d', 3]]));
    await box.remove(third);
    assert.equal(await box.readOne(third), undefined);
    assert.deepEqual(await box.counts(), new Map([['d', 2]]));
    assert.equal((await box.readOne(3))?.sequence, 3, 'the one with the same sequence in the first cell stays');
  });
});

suite('event streams of several cells', () => {
  const readerOf = (streams: number, name: string, asked: string[]) => (): EventReader => ({
    streams,
    ends: async (stream) => {
      asked.push(`${name}${stream}`);
      return { first: 1, last: 1 };
    },
    firstAt: async () => 1,
    read: async () => [],
  });

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
      assert.equal(three?.save(three.load(saved)), saved);
    }
    // A place that was saved before there was a second cell.
    assert.deepEqual([two?.save(two.load(2)), (two?.load(2) ?? 1) % 2], [2, 0]);
  });
});
