/** Stored events of some sources from the newest back, as many as there is time for. */
import type { AcceptedEvent } from '@millrace/contract';
import { openBreather } from '../../../breathe.ts';
import type { SourceEvent } from '../../../compute/fold/incoming-event.ts';
import { readBackwards } from '../../../stream/events/read-backwards.ts';
import type { EventReader } from '../../../stream/events/stored-events.ts';

export type EventScan = {
  workspaceId: string;
  sourceIds: readonly string[];
  /** Events that were stored before this are not wanted, in milliseconds. */
  since: number | undefined;
  maxMs: number;
  maxRequests: number;
  /** The most events that are kept. */
  most: number;
  isWanted(event: AcceptedEvent, sourceId: string): boolean;
};

export type ScannedEvents = {
  events: SourceEvent[];
  /** Everything stored since then was looked at. Undefined: everything there ever was, or back to `since`. */
  from: number | undefined;
};

export async function scanEventsBack(reader: EventReader, scan: EventScan): Promise<ScannedEvents> {
  const endMs = performance.now() + scan.maxMs;
  const events: SourceEvent[] = [];
  const froms: (number | undefined)[] = [];
  for (const [nth, sourceId] of scan.sourceIds.entries()) {
    const leftMs = endMs - performance.now();
    // Even the beginning of a read takes time: with many sources, the last ones are not looked at.
    if (leftMs <= 0) {
      froms.push(Date.now());
      break;
    }
    const partMs = leftMs / (scan.sourceIds.length - nth);
    const requests = Math.max(1, Math.floor(scan.maxRequests / scan.sourceIds.length));
    froms.push(await scanSource(reader, scan, { sourceId, requests, partMs, events }));
  }
  const known = froms.filter((from) => from !== undefined);
  return { events, from: known.length === 0 ? undefined : Math.max(...known) };
}

type Part = { sourceId: string; requests: number; partMs: number; events: SourceEvent[] };

async function scanSource(
  reader: EventReader,
  { workspaceId, since, most, isWanted }: EventScan,
  { sourceId, requests, partMs, events }: Part,
): Promise<number | undefined> {
  const breathe = openBreather();
  const budget = { requests, untilMs: performance.now() + partMs };
  const read = await readBackwards(reader, { sourceId, since }, budget);
  let oldestAt = Date.now();
  while (events.length < most) {
    const request = await read.next();
    if (request === undefined) break;
    oldestAt = request.storedAt;
    for (const event of request.events.toReversed()) {
      if (events.length < most && isWanted(event, sourceId)) events.push({ workspaceId, sourceId, event });
      await breathe();
    }
  }
  if (!read.isAtEnd()) return oldestAt;
  return since !== undefined || (await isUntrimmed(reader)) ? undefined : oldestAt;
}

/** Whether the streams still hold their first request. */
async function isUntrimmed(reader: EventReader): Promise<boolean> {
  for (let stream = 0; stream < reader.streams; stream += 1) {
    const ends = await reader.ends(stream);
    if (ends !== undefined && ends.first > 1) return false;
  }
  return true;
}
