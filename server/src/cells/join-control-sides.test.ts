import assert from 'node:assert/strict';
import { suite, test } from 'node:test';
import type { ControlSide } from '../stream/open-control-side.ts';
import { joinControlSides } from './join-control-sides.ts';

const PLACE = { destinationId: 'dst_1', tier: 0 };

/** A side that notes what is put into its lanes. */
function sideOf(cell: string, stored: string[]): ControlSide {
  const append = async () => {
    stored.push(cell);
    return 'stored' as const;
  };
  return { lanes: { append } } as Partial<Record<keyof ControlSide, unknown>> as ControlSide;
}

suite('deliveries that control makes', () => {
  test('go to the cell of the source, and wait while that does not know the destination yet', async () => {
    const stored: string[] = [];
    let behind = true;
    const { lanes } = joinControlSides({
      main: sideOf('main', stored),
      others: [{ name: 'eu', side: () => sideOf('eu', stored) }],
      cellOf: async () => 'eu',
      isBehind: async () => behind,
    });
    assert.equal(await lanes.append(PLACE, new Uint8Array()), 'unavailable');
    behind = false;
    assert.equal(await lanes.append(PLACE, new Uint8Array()), 'stored');
    assert.deepEqual(stored, ['eu']);
  });
});
