import { placeOfCell } from '../domain/configuration.ts';
import { MOST_EVENT_STREAMS } from '../stream/layout/layout.ts';
import type { EventReader } from '../stream/events/stored-events.ts';

export type CellReader = { name: string; reader(): EventReader };

/**
 * The event streams of all cells as one numbered row: the first of each cell, the second of each, and so on. More streams come at the end of the
 * row. Another cell moves all numbers, so places that are kept for long are saved by cell.
 */
export function joinEventReaders(named: readonly CellReader[]): EventReader {
  const count = named.length;
  // In an order that another cell does not change: a scan that goes on after a change has to find before it what it has read.
  const cells = named
    .map(({ name, reader }) => ({ place: placeOfCell(name), reader }))
    .toSorted((one, other) => one.place - other.place);
  const find = (stream: number) => {
    const reader = cells[stream % count]?.reader();
    const own = Math.floor(stream / count);
    return reader !== undefined && own < reader.streams ? { reader, own } : undefined;
  };
  return {
    /** Throws while a cell cannot be reached: the number of its streams is not known. */
    get streams() {
      return Math.max(...cells.map(({ reader }) => reader().streams)) * count;
    },
    cells: {
      count,
      key: cells.map(({ place }) => place).join('-'),
      own: (stream) => Math.floor(stream / count),
      save: (stream) => (cells[stream % count]?.place ?? 0) * MOST_EVENT_STREAMS + Math.floor(stream / count),
      load(saved) {
        const cell = cells.findIndex(({ place }) => place === Math.floor(saved / MOST_EVENT_STREAMS));
        return cell === -1 ? undefined : (saved % MOST_EVENT_STREAMS) * count + cell;
      },
    },
    ends: async (stream) => {
      const found = find(stream);
      return found?.reader.ends(found.own);
    },
    firstAt: async (stream, sourceId, at) => {
      const found = find(stream);
      return found?.reader.firstAt(found.own, sourceId, at);
    },
    read: async ({ stream, ...place }, most) => {
      const found = find(stream);
      return found === undefined ? [] : found.reader.read({ stream: found.own, ...place }, most);
    },
  };
}
