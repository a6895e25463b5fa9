/**
 * Dead letters and quarantined things of all cells. People and jobs know one by a number, which is the place of its cell times 2 to the power
 * of 40, and its sequence there: ten thousand a second need three years to come so far, and the number keeps 15 digits.
 */
import { placeOfCell } from '../domain/configuration.ts';
import type { ControlSide } from '../stream/open-control-side.ts';

type Letters = ControlSide['deadLetters'];
type Quarantine = ControlSide['quarantine'];
export type CellBox<Box> = { name: string; box(): Box };
type Placed<Box> = { place: number; box(): Box };

const CELL = 2 ** 40;

const placeOf = (sequence: number) => Math.floor(sequence / CELL);
const inCell = (sequence: number) => sequence % CELL;
const numbered = <T extends { sequence: number }>(place: number, entry: T): T => ({
  ...entry,
  sequence: place * CELL + entry.sequence,
});

/** In the order of their numbers. */
function byPlace<Box>(cells: readonly CellBox<Box>[]): Placed<Box>[] {
  return cells
    .map(({ name, box }) => ({ place: placeOfCell(name), box }))
    .toSorted((one, other) => one.place - other.place);
}

/** Undefined when the cell is not named any more. */
function boxOf<Box>(boxes: readonly Placed<Box>[], sequence: number): Box | undefined {
  return boxes.find(({ place }) => place === placeOf(sequence))?.box();
}

export function joinLetters(cells: readonly CellBox<Letters>[]): Letters {
  const boxes = byPlace(cells);
  return {
    read: (destinationId, from, most) => readOn(boxes, from, (box, first) => box.read(destinationId, first, most)),
    readOne: (sequence) => readOne(boxes, sequence),
    async last() {
      const highest = boxes.at(-1);
      return highest === undefined ? 0 : highest.place * CELL + (await highest.box().last());
    },
    async counts() {
      const counts = new Map<string, number>();
      for (const { box } of boxes)
        for (const [id, count] of await box().counts()) counts.set(id, (counts.get(id) ?? 0) + count);
      return counts;
    },
    async bytes() {
      let bytes = 0;
      for (const { box } of boxes) bytes += await box().bytes();
      return bytes;
    },
    remove: async (sequence) => boxOf(boxes, sequence)?.remove(inCell(sequence)),
    erase: async (sequence) => boxOf(boxes, sequence)?.erase(inCell(sequence)),
    async setAside(letter, why) {
      const own = { ...letter, sequence: inCell(letter.sequence) };
      return (await boxOf(boxes, letter.sequence)?.setAside(own, why)) ?? false;
    },
  };
}

export function joinQuarantines(cells: readonly CellBox<Quarantine>[]): Quarantine {
  const boxes = byPlace(cells);
  return {
    read: (kind, from, most) => readOn(boxes, from, (box, first) => box.read(kind, first, most)),
    readOne: (sequence) => readOne(boxes, sequence),
    async counts() {
      const [first = new Map(), ...others] = await Promise.all(boxes.map(({ box }) => box().counts()));
      for (const [kind, count] of others.flatMap((each) => [...each])) first.set(kind, (first.get(kind) ?? 0) + count);
      return first;
    },
    remove: async (sequence) => boxOf(boxes, sequence)?.remove(inCell(sequence)),
    async redrive(entry) {
      const own = { ...entry, sequence: inCell(entry.sequence) };
      return (await boxOf(boxes, entry.sequence)?.redrive(own)) ?? 'unavailable';
    },
  };
}

/** The entries of the first cell that has some from this place on. */
async function readOn<Box, T extends { sequence: number }>(
  boxes: readonly Placed<Box>[],
  from: number,
  read: (box: Box, from: number) => Promise<T[]>,
): Promise<T[]> {
  for (const { place, box } of boxes.filter((each) => each.place >= placeOf(from))) {
    const found = await read(box(), place === placeOf(from) ? Math.max(1, inCell(from)) : 1);
    if (found.length > 0) return found.map((entry) => numbered(place, entry));
  }
  return [];
}

async function readOne<T extends { sequence: number }>(
  boxes: readonly Placed<{ readOne(sequence: number): Promise<T | undefined> }>[],
  sequence: number,
): Promise<T | undefined> {
  const found = await boxOf(boxes, sequence)?.readOne(inCell(sequence));
  return found && numbered(placeOf(sequence), found);
}
