import type { AcceptedEvent } from '@millrace/contract';
import { StoredEventItems, StoredEventQuery } from '@millrace/contract/control';
import type { Static } from 'typebox';
import { openBreather } from '../../../breathe.ts';
import { findSource } from '../../../store/sources.ts';
import { type BackRange, type BackRead, type Places, readBackwards } from '../../../stream/events/read-backwards.ts';
import type { EventReader, StoredEvents } from '../../../stream/events/stored-events.ts';
import { askEngine } from '../../http/ask-engine.ts';
import { cursorOf, readPage } from '../../http/paging.ts';
import { engineRoute, type Route } from '../../http/route.ts';
import { readShown } from '../../jobs/hide-erased.ts';
import { ApiProblem, found } from '../../problems/problems.ts';
import { readPlaces, writePlaces } from './stream-places.ts';
import { eventName } from '../../../domain/event-name.ts';

type Query = Static<typeof StoredEventQuery>;

/** Of one request to this endpoint. */
const MAX_REQUESTS = 2_000;
const MAX_MS = 1_500;
/** Requests that are read before the store is asked about their users. */
const FIRST_AHEAD = 8;
const MAX_AHEAD = 128;
const MAX_AHEAD_BYTES = 1_048_576;
/** A request is stored some time after it was received: later by a failover, earlier by a clock that is behind. */
const CLOCK_SLACK_MS = 60_000;

export const storedEventRoutes: Route[] = [
  engineRoute({
    method: 'GET',
    url: '/api/v1/stored-events',
    summary: 'Stored events of a source by user, name, type, time and text, newest first',
    query: StoredEventQuery,
    answer: StoredEventItems,
    permission: 'sources:read',
    payloads: {},
    status: 200,
    async ask({ actor, query, inWorkspace }, { side, now }) {
      const { workspaceId } = actor;
      const { sourceId } = query;
      const at = now();
      const place = query.cursor === undefined ? undefined : readPlace(readPage(query).after ?? '', side.events);
      found(await inWorkspace((tx) => findSource(tx, workspaceId, sourceId)));
      const shownOf: ShownOf = (events) => inWorkspace((tx) => readShown(tx, { workspaceId, sourceId }, events));
      const search = await searchEvents({ reader: side.events, query, at: place, shownOf });
      const { isComplete, lookedAt, oldestAt, next } = search;
      const to = query.to ?? at.toISOString();
      const lookedFrom =
        isComplete && query.from !== undefined ? query.from : new Date(oldestAt ?? place?.oldestAt ?? at);
      return {
        items: search.found,
        lookedAt,
        from: new Date(lookedFrom).toISOString(),
        to: new Date(to).toISOString(),
        isComplete,
        nextCursor: isComplete ? null : cursorOf(placeText(next, side.events)),
      };
    },
  }),
];

/** Where to go on: in each stream, how many events of which request are left, and how far back the pages before have come. */
type SearchPlace = { places: Places; stream: number; left: number; oldestAt: number };

type Search = {
  found: { storedAt: string; event: AcceptedEvent }[];
  lookedAt: { requests: number; events: number };
  oldestAt: number | undefined;
  isComplete: boolean;
  next: SearchPlace;
};

/** Tells which of these events may be shown. */
type ShownOf = (events: readonly AcceptedEvent[]) => Promise<(event: AcceptedEvent) => boolean>;
type Searching = { reader: EventReader; query: Query; at: SearchPlace | undefined; shownOf: ShownOf };

/** Events that may not be shown are passed over before anything is compared, so that no search tells what they hold. */
async function searchEvents({ reader, query, at, shownOf }: Searching): Promise<Search> {
  const budget = { requests: MAX_REQUESTS, untilMs: performance.now() + MAX_MS };
  const read = await askEngine(readBackwards(reader, rangeOf(query, at), budget));
  const lookedAt = { requests: 0, events: 0 };
  const taken: Search['found'] = [];
  const [most, isMatch] = [query.limit ?? 50, openMatch(query)];
  let oldestAt: number | undefined;
  let ahead: Request[] = [];
  let left = 0;
  for (let size = FIRST_AHEAD; taken.length < most; size = Math.min(size * 2, MAX_AHEAD)) {
    ahead = await askEngine(readAhead(read, size));
    if (ahead.length === 0) break;
    const isShown = await shownOf(ahead.flatMap(({ events }) => events));
    const isWanted = (event: AcceptedEvent) => isShown(event) && isMatch(event);
    for (let request = ahead[0]; request !== undefined && taken.length < most; request = ahead[0]) {
      lookedAt.requests += 1;
      oldestAt = request.storedAt;
      left = await takeFrom(request, leftOf(request, at), { found: taken, lookedAt, most, isWanted });
      if (left === 0) ahead.shift();
    }
  }
  const places = [...read.places()];
  // Requests that were read ahead are left for the next page, which begins at the newest of each stream.
  for (const { stream, sequence } of ahead.toReversed()) places[stream] = sequence;
  const next = {
    places,
    stream: left > 0 ? (ahead[0]?.stream ?? 0) : 0,
    left,
    oldestAt: oldestAt ?? at?.oldestAt ?? 0,
  };
  return { found: taken, lookedAt, oldestAt, isComplete: ahead.length === 0 && read.isAtEnd(), next };
}

type Request = StoredEvents & { stream: number };

/** The next requests, few enough that one question to the store tells about all their users. */
async function readAhead(read: BackRead, most: number): Promise<Request[]> {
  const ahead: Request[] = [];
  let bytes = 0;
  while (ahead.length < most && bytes < MAX_AHEAD_BYTES) {
    const request = await read.next();
    if (request === undefined) break;
    ahead.push(request);
    bytes += request.bytes;
  }
  return ahead;
}

function rangeOf({ sourceId, from, to }: Query, at: SearchPlace | undefined): BackRange {
  const before = to === undefined ? undefined : Date.parse(to) + CLOCK_SLACK_MS;
  const since = from === undefined ? undefined : Date.parse(from) - CLOCK_SLACK_MS;
  return { sourceId, places: at?.places, before, since };
}

/** How many events of a request, from its first, no page has looked at. */
function leftOf({ stream, sequence, events }: Request, at: SearchPlace | undefined): number {
  const isHalfRead = at !== undefined && at.left > 0 && at.stream === stream && at.places[stream] === sequence;
  return isHalfRead ? Math.min(at.left, events.length) : events.length;
}

type Taking = Pick<Search, 'found' | 'lookedAt'> & { most: number; isWanted(event: AcceptedEvent): boolean };

/** Takes wanted events from the last one back; answers how many are left when the page is full. */
async function takeFrom({ events, storedAt }: Request, start: number, taking: Taking): Promise<number> {
  const { found: taken, lookedAt, most, isWanted } = taking;
  const breathe = openBreather();
  let left = start;
  for (; left > 0 && taken.length < most; left -= 1) {
    const event = events[left - 1];
    lookedAt.events += 1;
    if (event !== undefined && isWanted(event)) taken.push({ storedAt: new Date(storedAt).toISOString(), event });
    await breathe();
  }
  return left;
}

/** Made once, asked for each of many thousands. */
function openMatch({ userId, name, type, from, to, text }: Query): (event: AcceptedEvent) => boolean {
  const start = from === undefined ? -Infinity : Date.parse(from);
  const end = to === undefined ? Infinity : Date.parse(to);
  // Both as JSON writes them, so that quotes and line ends in the text are found too.
  const wanted = text === undefined ? undefined : JSON.stringify(text).slice(1, -1).toLowerCase();
  return (event) => {
    if (type !== undefined && event.type !== type) return false;
    if (userId !== undefined && event.userId !== userId) return false;
    if (name !== undefined && eventName(event) !== name) return false;
    const receivedAt = Date.parse(event.receivedAt);
    if (receivedAt < start || receivedAt >= end) return false;
    return wanted === undefined || JSON.stringify(event).toLowerCase().includes(wanted);
  };
}

function placeText({ places, stream, left, oldestAt }: SearchPlace, reader: EventReader): string {
  return writePlaces([stream, left, oldestAt, ...places], reader);
}

function readPlace(text: string, reader: EventReader): SearchPlace {
  const [stream, left, oldestAt, ...places] = readPlaces(text, reader);
  if (
    stream === undefined ||
    left === undefined ||
    oldestAt === undefined ||
    oldestAt > 8.64e15 ||
    places.length === 0
  ) {
    throw new ApiProblem('invalid_cursor');
  }
  return { places, stream, left, oldestAt };
}
