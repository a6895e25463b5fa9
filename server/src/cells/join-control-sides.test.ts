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
  test('go to the cell of the source', async () => {
    const stored: string[] = [];
    let cell = 'main';
    const { lanes } = joinControlSides({
      main: sideOf('main', stored),
      others: [{ name: 'eu', side: () => sideOf('eu', stored) }],
      cellOf: async () => cell,
    });
    assert.equal(await lanes.append(PLACE, new Uint8Array()), 'stored');
    cell = 'eu';
    assert.equal(await lanes.append(PLACE, new Uint8Array()), 'stored');
    assert.deepEqual(stored, ['main', 'eu']);
  });
});

suite('the processes of an installation', () => {
  test('are listed once, although they are alive in every cell', () => {
    const heard = (id: string) => ({ id, roles: ['collect'], version: '1.0.0', startedAt: '' });
    const sideWith = (...ids: string[]) =>
      ({ processes: () => ids.map(heard) }) as Partial<Record<keyof ControlSide, unknown>> as ControlSide;
    const { processes } = joinControlSides({
      main: sideWith('a', 'b'),
      others: [{ name: 'eu', side: () => sideWith('b', 'c') }],
      cellOf: async () => 'main',
    });
    assert.deepEqual(
      processes()?.map(({ id }) => id),
      ['a', 'b', 'c'],
    );
  });
});
