import assert from 'node:assert/strict';
import { test } from 'node:test';
import { readForwards } from './read-forwards.ts';
import type { EventReader } from './stored-events.ts';

const NOW = 1_000_000;
const TIMES = { horizon: NOW - 500, latest: NOW + 500 };

/** Each stream is the list of the times at which its requests were stored. */
function readerOf(...streams: number[][]): EventReader {
  return {
    streams: streams.length,
    ends: async (stream) => ({ first: 1, last: streams[stream]?.length ?? 0 }),
    firstAt: async () => 1,
    read: async ({ stream, from }, most) =>
      (streams[stream] ?? [])
        .map((storedAt, index) => ({ sequence: index + 1, storedAt, bytes: 1, events: [], places: [] }))
        .slice(from - 1, from - 1 + most),
  };
}

async function readAll(reader: EventReader): Promise<number[]> {
  const read = await readForwards(reader, { sourceId: 'src_1', since: 0, ...TIMES });
  const times: number[] = [];
  for (let next = await read.next(); next !== undefined; next = await read.next()) times.push(next.storedAt);
  return times;
}

test('streams are merged by the time of storage, up to the horizon', async () => {
  assert.deepEqual(await readAll(readerOf([10, 30, NOW - 100], [20, NOW - 501])), [10, 20, 30, NOW - 501]);
});

test('a time of storage in the future does not hold its stream back', async () => {
  const future = NOW + 3_600_000;
  assert.deepEqual(await readAll(readerOf([10, future, 40], [20, 30])), [10, 20, 30, future, 40]);
  assert.deepEqual(await readAll(readerOf([future, future + 1], [NOW - 100])), [future, future + 1]);
});

test('a clock that is ahead by less than the hold is only waited for', async () => {
  assert.deepEqual(await readAll(readerOf([10, NOW + 400], [20])), [10, 20]);
});
