import type { ComputeSide } from '../stream/open-compute-side.ts';

/** Removes what keeps events for definitions, for there are none. A cell that is away keeps its own until it is back, and no other's. */
export async function forgetFloors(side: Pick<ComputeSide, 'streams' | 'readable' | 'floors'>): Promise<void> {
  for (const stream of await (side.readable?.() ?? side.streams())) {
    if ((await side.floors.read(stream)) !== undefined) await side.floors.remove(stream);
  }
}
