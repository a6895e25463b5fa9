import { MOST_EVENT_STREAMS } from '../stream/layout/layout.ts';
import type { EventReader } from '../stream/events/stored-events.ts';

/**
 * The event streams of all cells as one numbered row: the first of each cell, the second of each, and so on. More streams come at the end of the
 * row. Another cell moves all numbers, so places that are kept for long are saved by cell.
 */
export function joinEventReaders(cells: readonly (() => EventReader)[]): EventReader {
  const count = cells.length;
  const find = (stream: number) => {
    const reader = cells[stream % count]?.();
    const own = Math.floor(stream / count);
    return reader !== undefined && own < reader.streams ? { reader, own } : undefined;
  };
  return {
    /** Throws while a cell cannot be reached: the number of its streams is not known. */
    get streams() {
      return Math.max(...cells.map((cell) => cell().streams)) * count;
    },
    cells: {
      count,
      own: (stream) => Math.floor(stream / count),
      save: (stream) => (stream % count) * MOST_EVENT_STREAMS + Math.floor(stream / count),
      load: (saved) => (saved % MOST_EVENT_STREAMS) * count + Math.floor(saved / MOST_EVENT_STREAMS),
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
