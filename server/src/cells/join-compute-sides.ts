import { MAIN_CELL, nameInCell, readNameInCell } from '../domain/configuration.ts';
import type { ComputeSide } from '../stream/open-compute-side.ts';
import { type CellSide, reached } from './join-control-sides.ts';

/**
 * The event streams of all cells, each under the name of its cell. Compute reads them side by side, as it reads those of one cell. Those
 * of a cell that is away are not read: their positions stay, and the clock of the others does not wait for them. New definitions need
 * the past of all streams, so they wait for the cell.
 */
export function joinComputeSides(main: ComputeSide, others: readonly CellSide<ComputeSide>[]): ComputeSide {
  if (others.length === 0) return main;
  const cells = [{ name: MAIN_CELL, side: () => main }, ...others];
  const find = (text: string) => {
    const { cell, name } = readNameInCell(text);
    return { name, side: reached(cells.find((each) => each.name === cell)?.side(), cell) };
  };
  const list = async ({ name, side }: CellSide<ComputeSide>): Promise<string[]> =>
    (await reached(side(), name).streams()).map((stream) => nameInCell(name, stream));
  const listOrNone = (cell: CellSide<ComputeSide>) => list(cell).catch(() => []);
  return {
    ...main,
    streams: async () => (await Promise.all(cells.map(list))).flat(),
    readable: async () => [...(await main.streams()), ...(await Promise.all(others.map(listOrNone))).flat()],
    findPlace: async (stream, place) => {
      const { name, side } = find(stream);
      return side.findPlace(name, place);
    },
    batches: ({ stream, ...needs }) => {
      const { name, side } = find(stream);
      return side.batches({ ...needs, stream: name });
    },
    floors: {
      put: async (stream, floor) => find(stream).side.floors.put(find(stream).name, floor),
      remove: async (stream) => find(stream).side.floors.remove(find(stream).name),
      read: async (stream) => find(stream).side.floors.read(find(stream).name),
    },
    async [Symbol.asyncDispose]() {},
  };
}
