import assert from 'node:assert/strict';
import { suite, test } from 'node:test';
import { joinComputeSides } from '../cells/join-compute-sides.ts';
import type { ComputeSide } from '../stream/open-compute-side.ts';
import { forgetFloors } from './forget-floors.ts';

/** A cell whose one stream has a floor. */
function openCell() {
  const floors = new Set(['EVENTS-0']);
  const side = {
    streams: async () => ['EVENTS-0'],
    floors: {
      read: async (stream: string) => (floors.has(stream) ? {} : undefined),
      remove: async (stream: string) => void floors.delete(stream),
    },
  } as Partial<Record<keyof ComputeSide, unknown>> as ComputeSide;
  return { floors, side };
}

suite('floors without definitions', () => {
  test('are removed in the cells that can be reached, and in the others when they are back', async () => {
    const main = openCell();
    const eu = openCell();
    let isAway = true;
    const side = joinComputeSides(main.side, [{ name: 'eu', side: () => (isAway ? undefined : eu.side) }]);
    await forgetFloors(side);
    assert.deepEqual([main.floors.size, eu.floors.size], [0, 1]);
    isAway = false;
    await forgetFloors(side);
    assert.equal(eu.floors.size, 0);
  });

  test('are removed where there is one cell', async () => {
    const main = openCell();
    await forgetFloors(main.side);
    assert.equal(main.floors.size, 0);
  });
});
