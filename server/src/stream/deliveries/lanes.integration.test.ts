import assert from 'node:assert/strict';
import { test } from 'node:test';
import { openBed } from '../../../testing/deliver-bed.ts';

test('the groups of a lane are dropped up to a sequence, and the one behind it stays', async () => {
  await using bed = await openBed();
  await using side = await bed.stream.deliverySide();
  const place = { destinationId: 'dst_1', tier: 0 };
  for (const text of ['one', 'two', 'three']) assert.equal(await side.lanes.append(place, Buffer.from(text)), 'stored');
  const [, second] = await side.lanes.read(place, 1, 3);
  await side.lanes.drop(place, second?.sequence ?? assert.fail('all three are there'));
  const left = await side.lanes.read(place, 1, 3);
  assert.deepEqual(
    left.map(({ payload }) => Buffer.from(payload).toString()),
    ['three'],
  );
});
