import { MOST_EVENT_STREAMS } from '../stream/layout/layout.ts';
import type { EventReader } from '../stream/events/stored-events.ts';

/**
 * The event streams of all cells as one numbered row, with room for the most streams that a cell can have: a place that a job has saved
 * stays right when a setting changes the number of streams.
 */
export function joinEventReaders(cells: readonly (() => EventReader)[]): EventReader {
  const find = (stream: number) => {
    const reader = cells[Math.floor(stream / MOST_EVENT_STREAMS)]?.();
    const own = stream % MOST_EVENT_STREAMS;
    return reader !== undefined && own < reader.streams ? { reader, own } : undefined;
  };
  return {
    streams: cells.length * MOST_EVENT_STREAMS,
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
      return found === undefined ? [] : await found.reader.read({ stream: found.own, ...place }, most);
    },
  };
}
