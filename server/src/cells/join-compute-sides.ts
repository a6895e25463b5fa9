import { MAIN_CELL, nameInCell, readNameInCell } from '../domain/cell.ts';
import type { ComputeSide } from '../stream/open-compute-side.ts';
import { type CellSide, reached } from './join-control-sides.ts';

/**
 * The event streams of all cells, each under the name of its cell. Compute reads them side by side, as it reads those of one cell. The
 * streams of a cell that is away stay in the list, so their positions stay held.
 */
export function joinComputeSides(main: ComputeSide, others: readonly CellSide<ComputeSide>[]): ComputeSide {
  if (others.length === 0) return main;
  const cells = [{ name: MAIN_CELL, side: () => main }, ...others];
  const known = new Map<string, string[]>();
  const find = (text: string) => {
    const { cell, name } = readNameInCell(text);
    return { name, side: reached(cells.find((each) => each.name === cell)?.side(), cell) };
  };
  const list = async ({ name, side }: CellSide<ComputeSide>) => {
    if (name === MAIN_CELL) return await main.streams();
    const found = await side()
      ?.streams()
      .catch(() => undefined);
    if (found !== undefined)
      known.set(
        name,
        found.map((stream) => nameInCell(name, stream)),
      );
    return known.get(name) ?? [];
  };
  return {
    ...main,
    streams: async () => (await Promise.all(cells.map(list))).flat(),
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
