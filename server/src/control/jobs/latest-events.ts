import type { AcceptedEvent } from '@millrace/contract';
import { readBackwards } from '../../stream/events/read-backwards.ts';
import type { EventReader } from '../../stream/events/stored-events.ts';

export type LatestEvents = {
  /** Newest first. */
  events: AcceptedEvent[];
  /** Stored requests that hold them. */
  requests: number;
  /** When the oldest of these requests was stored. */
  oldestAt: number | undefined;
  /** The reason to stop: nothing is left, or one of the bounds. */
  endedBy: 'all' | 'last' | 'time' | 'size';
};

export type LatestAsked = { sourceId: string; most: number; maxMs: number };

/** Of the requests, as they are stored. */
const MAX_BYTES = 8_388_608;
/** Enough for the wanted events when each has a request of its own; the streams hold up to half as many that come to nothing. */
const REQUESTS_FOR_ONE = 4;
const MIN_REQUESTS = 1_000;

/** The newest stored events of a source, over all streams. However short the time, at least the newest request is read. */
export async function latestEvents(reader: EventReader, { sourceId, most, maxMs }: LatestAsked): Promise<LatestEvents> {
  const requestBudget = Math.max(MIN_REQUESTS, most * REQUESTS_FOR_ONE);
  const budget = { requests: requestBudget, untilMs: performance.now() + maxMs };
  const read = await readBackwards(reader, { sourceId }, budget);
  const events: AcceptedEvent[] = [];
  let [requests, bytes] = [0, 0];
  let oldestAt: number | undefined;
  const end = (endedBy: LatestEvents['endedBy']) => ({ events, requests, oldestAt, endedBy });
  for (;;) {
    const request = await read.next();
    if (request === undefined) return end(read.isAtEnd() ? 'all' : 'time');
    const room = most - events.length;
    // With exactly as many as wanted, only one more request tells that these are not all.
    if (room === 0) return end('last');
    bytes += request.bytes;
    if (requests > 0 && bytes > MAX_BYTES) return end('size');
    requests += 1;
    oldestAt = request.storedAt;
    events.push(...request.events.slice(-room).toReversed());
    if (request.events.length > room) return end('last');
  }
}
