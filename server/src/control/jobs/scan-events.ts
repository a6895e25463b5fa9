import type { AcceptedEvent } from '@millrace/contract';
import type { ReplayRange } from '@millrace/contract/control';
import { openBreather } from '../../breathe.ts';
import { eventOrder, requestOrder } from '../../domain/delivery.ts';
import { type EventReader, ownStream, type StoredEvents } from '../../stream/events/stored-events.ts';

/** Where the next scan continues: this event of this request in this stream. */
export type EventPlace = { stream: number; sequence: number; offset: number };

export type EventScan = {
  range: ReplayRange;
  at: EventPlace | undefined;
  /** How many events are wanted. */
  most: number;
  /** The scan stops after about this time, with the events found by then. */
  maxMs?: number;
  /** Whether an event that fits the filter is one of those that are wanted. */
  isWanted(event: AcceptedEvent): boolean;
};

/** `order`: its place among the events of the source. */
export type ScannedEvent = { event: AcceptedEvent; order: string };

export type EventsScanned = {
  found: ScannedEvent[];
  /** Undefined at the end. */
  next: EventPlace | undefined;
};

const READ_AT_ONCE = 256;
const READ_AT_LEAST = 16;
/** The difference between the times of receipt and storage: a failover delays storage, and clocks differ. */
const CLOCK_SLACK_MS = 60_000;
const MAX_MS = 1_000;

/** The next events of a range, stream by stream, in the order in which they were stored. */
export async function scanEvents(reader: EventReader, scan: EventScan): Promise<EventsScanned> {
  const { range, at } = scan;
  const untilMs = performance.now() + (scan.maxMs ?? MAX_MS);
  const found: ScannedEvent[] = [];
  const isIn = openRange(range);
  for (let stream = at?.stream ?? 0; stream < reader.streams; stream += 1) {
    const start = at?.stream === stream ? at : await startOf(reader, range, stream);
    if (start === undefined) continue;
    const own = ownStream(reader, stream);
    const next = await scanStream(reader, { ...scan, at: start, own, found, untilMs, isIn });
    if (next !== undefined) return { found, next };
  }
  return { found, next: undefined };
}

async function startOf(reader: EventReader, range: ReplayRange, stream: number): Promise<EventPlace | undefined> {
  const sequence = await reader.firstAt(stream, range.sourceId, Date.parse(range.from) - CLOCK_SLACK_MS);
  return sequence === undefined ? undefined : { stream, sequence, offset: 0 };
}

type StreamScan = EventScan & {
  at: EventPlace;
  /** The number of the stream in its cell, which is a part of the order. */
  own: number;
  found: ScannedEvent[];
  untilMs: number;
  isIn(event: AcceptedEvent): boolean;
};

/** Undefined when nothing more of the range is in this stream. */
async function scanStream(reader: EventReader, scan: StreamScan): Promise<EventPlace | undefined> {
  const { range, at, found, most, untilMs } = scan;
  const { stream } = at;
  const endAt = Date.parse(range.to) + CLOCK_SLACK_MS;
  const breathe = openBreather();
  let [from, offset] = [at.sequence, at.offset];
  for (;;) {
    const place = { stream, sourceId: range.sourceId, from };
    const requests = await reader.read(place, Math.min(READ_AT_ONCE, Math.max(READ_AT_LEAST, most - found.length + 1)));
    for (const request of requests) {
      const { sequence, storedAt } = request;
      if (storedAt >= endAt) return undefined;
      await breathe();
      const isFor = isForDestination(request, range.destinationId);
      const rest = isFor ? takeFrom(request, sequence === at.sequence ? offset : 0, scan) : undefined;
      if (rest !== undefined) return { stream, sequence, offset: rest };
      offset = 0;
      from = sequence + 1;
    }
    if (requests.length === 0) return undefined;
    if (performance.now() >= untilMs) return { stream, sequence: from, offset: 0 };
  }
}

/** Computed calls are replayed to the destinations that they were for. */
function isForDestination({ computed }: StoredEvents, destinationId: string): boolean {
  return computed === undefined || computed.destinations.includes(destinationId);
}

/** The index at which the next scan continues, when `most` is reached; undefined at the end of the request. */
function takeFrom({ events, places, sequence }: StoredEvents, start: number, scan: StreamScan): number | undefined {
  for (let index = start; index < events.length; index += 1) {
    const event = events[index];
    if (event === undefined || !scan.isIn(event)) continue;
    if (scan.found.length >= scan.most) return index;
    if (!scan.isWanted(event)) continue;
    const ofRequest = requestOrder(event.receivedAt, { stream: scan.own, sequence });
    scan.found.push({ event, order: eventOrder(ofRequest, places[index] ?? index) });
  }
  return undefined;
}

/** A predicate for events in the range that pass the filter; built once for many thousands of events. */
export function openRange({
  from,
  to,
  filter = {},
}: Pick<ReplayRange, 'from' | 'to' | 'filter'>): (event: AcceptedEvent) => boolean {
  const [start, end] = [Date.parse(from), Date.parse(to)];
  const types = setOf(filter.types);
  const names = setOf(filter.events);
  const userIds = setOf(filter.userIds);
  return (event) => {
    const receivedAt = Date.parse(event.receivedAt);
    if (receivedAt < start || receivedAt >= end) return false;
    if (types?.has(event.type) === false) return false;
    if (names !== undefined && !(event.type === 'track' && names.has(event.event))) return false;
    return userIds === undefined || (event.userId !== undefined && userIds.has(event.userId));
  };
}

function setOf<T>(values: readonly T[] | undefined): ReadonlySet<T> | undefined {
  return values === undefined ? undefined : new Set(values);
}
