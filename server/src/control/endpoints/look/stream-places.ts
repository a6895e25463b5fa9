import type { EventReader } from '../../../stream/events/stored-events.ts';

/** A cell has 64 event streams at most, and a cursor some numbers more. */
const MOST_OF_A_CELL = 70;

/** The numbers of a cursor, some of which are places in the streams of all cells: with other cells they would be those of other streams. */
export function writePlaces(numbers: readonly number[], { cells }: Pick<EventReader, 'cells'>): string {
  return numbers.join(' ') + (cells === undefined ? '' : ` of ${cells.key}`);
}

/** None when it is no such text, or one of other cells. */
export function readPlaces(given: string, { cells }: Pick<EventReader, 'cells'>): number[] {
  const [text = '', key = ''] = given.split(' of ');
  const most = MOST_OF_A_CELL * (cells?.count ?? 1);
  const arePlaces = new RegExp(`^\\d{1,15}(?: \\d{1,15}){0,${most}}$`).test(text);
  return arePlaces && key === (cells?.key ?? '') ? text.split(' ').map(Number) : [];
}
