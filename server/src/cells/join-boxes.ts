/**
 * Dead letters and quarantined things of all cells. People and jobs know one by its sequence, so those of the second cell begin at 2 to the
 * power of 44, those of the third at twice that: no stream ever comes so far.
 */
import type { ControlSide } from '../stream/open-control-side.ts';

type Letters = ControlSide['deadLetters'];
type Quarantine = ControlSide['quarantine'];
type Boxes<Box> = readonly (() => Box)[];

const CELL = 2 ** 44;

const cellOf = (sequence: number) => Math.floor(sequence / CELL);
const inCell = (sequence: number) => sequence % CELL;
const numbered = <T extends { sequence: number }>(cell: number, entry: T): T => ({
  ...entry,
  sequence: cell * CELL + entry.sequence,
});

export function joinLetters(boxes: Boxes<Letters>): Letters {
  return {
    read: (destinationId, from, most) => readOn(boxes, from, (box, first) => box.read(destinationId, first, most)),
    readOne: (sequence) => readOne(boxes, sequence),
    async last() {
      const cell = boxes.length - 1;
      return cell * CELL + ((await boxes[cell]?.().last()) ?? 0);
    },
    async counts() {
      const counts = new Map<string, number>();
      for (const box of boxes)
        for (const [id, count] of await box().counts()) counts.set(id, (counts.get(id) ?? 0) + count);
      return counts;
    },
    async bytes() {
      let bytes = 0;
      for (const box of boxes) bytes += await box().bytes();
      return bytes;
    },
    remove: async (sequence) => boxes[cellOf(sequence)]?.().remove(inCell(sequence)),
    erase: async (sequence) => boxes[cellOf(sequence)]?.().erase(inCell(sequence)),
    async setAside(letter, why) {
      const own = { ...letter, sequence: inCell(letter.sequence) };
      return (await boxes[cellOf(letter.sequence)]?.().setAside(own, why)) ?? false;
    },
  };
}

export function joinQuarantines(boxes: Boxes<Quarantine>): Quarantine {
  return {
    read: (kind, from, most) => readOn(boxes, from, (box, first) => box.read(kind, first, most)),
    readOne: (sequence) => readOne(boxes, sequence),
    async counts() {
      const [first = new Map(), ...others] = await Promise.all(boxes.map((box) => box().counts()));
      for (const [kind, count] of others.flatMap((each) => [...each])) first.set(kind, (first.get(kind) ?? 0) + count);
      return first;
    },
    remove: async (sequence) => boxes[cellOf(sequence)]?.().remove(inCell(sequence)),
    async redrive(entry) {
      const own = { ...entry, sequence: inCell(entry.sequence) };
      return (await boxes[cellOf(entry.sequence)]?.().redrive(own)) ?? 'unavailable';
    },
  };
}

/** The entries of the first cell that has some from this place on. */
async function readOn<Box, T extends { sequence: number }>(
  boxes: Boxes<Box>,
  from: number,
  read: (box: Box, from: number) => Promise<T[]>,
): Promise<T[]> {
  for (let cell = cellOf(from); cell < boxes.length; cell += 1) {
    const box = boxes[cell];
    const found = box === undefined ? [] : await read(box(), cell === cellOf(from) ? Math.max(1, inCell(from)) : 1);
    if (found.length > 0) return found.map((entry) => numbered(cell, entry));
  }
  return [];
}

async function readOne<T extends { sequence: number }>(
  boxes: Boxes<{ readOne(sequence: number): Promise<T | undefined> }>,
  sequence: number,
): Promise<T | undefined> {
  const found = await boxes[cellOf(sequence)]?.().readOne(inCell(sequence));
  return found && numbered(cellOf(sequence), found);
}
