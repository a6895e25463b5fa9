import type { AcceptedEvent } from '@millrace/contract';
import { StoredEventItems, StoredEventQuery } from '@millrace/contract/control';
import type { Static } from 'typebox';
import { openBreather } from '../../../breathe.ts';
import { findSource } from '../../../store/sources.ts';
import type { EventReader, StoredEvents } from '../../../stream/events/stored-events.ts';
import { askEngine } from '../../http/ask-engine.ts';
import { cursorOf, readPage } from '../../http/paging.ts';
import { engineRoute, type Route } from '../../http/route.ts';
import { ApiProblem, found } from '../../problems/problems.ts';
import { readShown } from './hide-erased.ts';
import { type BackRange, type Places, readBackwards } from './read-backwards.ts';

type Query = Static<typeof StoredEventQuery>;

/** Of one request to this endpoint. */
const MAX_REQUESTS = 2_000;
const MAX_MS = 1_500;
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
    status: 200,
    async ask({ actor, query, inWorkspace }, { side, now }) {
      const { workspaceId } = actor;
      const { sourceId } = query;
      const at = now();
      const place = query.cursor === undefined ? undefined : readPlace(readPage(query).after ?? '');
      found(await inWorkspace((tx) => findSource(tx, workspaceId, sourceId)));
      const search = await askEngine(searchEvents(side.events, query, place));
      const events = search.found.map(({ event }) => event);
      const isShown = await inWorkspace((tx) => readShown(tx, { workspaceId, sourceId }, events));
      const { isComplete, lookedAt, oldestAt, next } = search;
      const to = query.to ?? at.toISOString();
      const lookedFrom =
        isComplete && query.from !== undefined ? query.from : new Date(oldestAt ?? place?.oldestAt ?? at);
      return {
        items: search.found.filter(({ event }) => isShown(event)),
        lookedAt,
        from: new Date(lookedFrom).toISOString(),
        to: new Date(to).toISOString(),
        isComplete,
        nextCursor: isComplete ? null : cursorOf(placeText(next)),
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

async function searchEvents(reader: EventReader, query: Query, at: SearchPlace | undefined): Promise<Search> {
  const budget = { requests: MAX_REQUESTS, untilMs: performance.now() + MAX_MS };
  const read = await readBackwards(reader, rangeOf(query, at), budget);
  const lookedAt = { requests: 0, events: 0 };
  const search = { found: [] as Search['found'], lookedAt, most: query.limit ?? 50, isWanted: openMatch(query) };
  let oldestAt: number | undefined;
  let rest: Rest | undefined;
  while (search.found.length < search.most) {
    const request = await read.next();
    if (request === undefined) break;
    lookedAt.requests += 1;
    oldestAt = request.storedAt;
    const { stream, sequence } = request;
    const left = await takeFrom(request, leftOf(request, at), search);
    if (left > 0) rest = { stream, sequence, left };
  }
  const places = read.places().map((place, stream) => (rest?.stream === stream ? rest.sequence : place));
  const next = { places, stream: rest?.stream ?? 0, left: rest?.left ?? 0, oldestAt: oldestAt ?? at?.oldestAt ?? 0 };
  return { found: search.found, lookedAt, oldestAt, isComplete: rest === undefined && read.isAtEnd(), next };
}

/** A request of which some events are left for the next page. */
type Rest = { stream: number; sequence: number; left: number };
type Request = StoredEvents & { stream: number };

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
    if (name !== undefined && nameOf(event) !== name) return false;
    const receivedAt = Date.parse(event.receivedAt);
    if (receivedAt < start || receivedAt >= end) return false;
    return wanted === undefined || JSON.stringify(event).toLowerCase().includes(wanted);
  };
}

/** The name of a track event, page or screen. */
export function nameOf(event: AcceptedEvent): string | undefined {
  if (event.type === 'track') return event.event;
  return event.type === 'page' || event.type === 'screen' ? event.name : undefined;
}

function placeText({ places, stream, left, oldestAt }: SearchPlace): string {
  return [stream, left, oldestAt, ...places].join(' ');
}

function readPlace(text: string): SearchPlace {
  const numbers = /^\d{1,15}(?: \d{1,15}){3,70}$/.test(text) ? text.split(' ').map(Number) : [];
  const [stream, left, oldestAt, ...places] = numbers;
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
