import type { AcceptedEvent } from '@millrace/contract';
import { FeedItems, FeedQuery } from '@millrace/contract/control';
import type { Static } from 'typebox';
import { findSource } from '../../../store/sources.ts';
import { type FeedPosition, type ForwardRange, readForwards } from '../../../stream/events/read-forwards.ts';
import type { EventReader, StoredEvents } from '../../../stream/events/stored-events.ts';
import { askEngine } from '../../http/ask-engine.ts';
import { cursorOf, readPage } from '../../http/paging.ts';
import { engineRoute, type Route } from '../../http/route.ts';
import { readShown } from '../../jobs/hide-erased.ts';
import { ApiProblem, found } from '../../problems/problems.ts';
import { readPlaces, writePlaces } from './stream-places.ts';

type Query = Static<typeof FeedQuery>;

/** Of one request to this endpoint. */
const MAX_BYTES = 4_194_304;
const MAX_MS = 1_500;
/** The clocks of NATS servers may differ by this much without a change of the order between streams. */
const HOLD_MS = 500;

export const feedRoutes: Route[] = [
  engineRoute({
    method: 'GET',
    url: '/api/v1/sources/:id/feed',
    summary: 'Stored events of a source in the order in which they were stored, from a cursor on',
    query: FeedQuery,
    answer: FeedItems,
    permission: 'sources:read',
    payloads: {},
    status: 200,
    async ask({ actor, params, query, inWorkspace }, { side, now }) {
      const { workspaceId } = actor;
      const place =
        query.cursor === undefined ? undefined : readPlace(readPage({ cursor: query.cursor }).after ?? '', side.events);
      const nowMs = now().getTime();
      const times = { horizon: nowMs - HOLD_MS, latest: nowMs + HOLD_MS };
      const { id: sourceId } = found(await inWorkspace((tx) => findSource(tx, workspaceId, params.id)));
      const page = await askEngine(readFeed(side.events, { sourceId, query, place, times }));
      const events = page.items.map(({ event }) => event);
      const isShown = await inWorkspace((tx) => readShown(tx, { workspaceId, sourceId }, events));
      return {
        items: page.items.filter(({ event }) => isShown(event)),
        cursor: cursorOf(placeText(page.next, side.events)),
        isAtEnd: page.isAtEnd,
        hasGap: page.hasGap,
      };
    },
  }),
];

/** Where to go on: the first unread sequence of each stream, and how many events of the request there were read already. */
type FeedPlace = { places: FeedPosition; stream: number; taken: number };

type Times = Pick<ForwardRange, 'horizon' | 'latest'>;
type Reading = { sourceId: string; query: Query; place: FeedPlace | undefined; times: Times };
type Page = {
  items: { storedAt: string; event: AcceptedEvent }[];
  next: FeedPlace;
  isAtEnd: boolean;
  hasGap: boolean;
};

async function readFeed(reader: EventReader, { sourceId, query, place, times }: Reading): Promise<Page> {
  const since = query.from === undefined ? undefined : Date.parse(query.from);
  const read = await readForwards(reader, { sourceId, places: place?.places, since, ...times });
  const untilMs = performance.now() + MAX_MS;
  const most = query.limit ?? 100;
  const items: Page['items'] = [];
  const end = (places: FeedPosition, half: Pick<FeedPlace, 'stream' | 'taken'>, isAtEnd: boolean) => {
    return { items, next: { places, ...half }, isAtEnd, hasGap: read.hasGap };
  };
  let bytes = 0;
  while (items.length < most && bytes < MAX_BYTES && performance.now() < untilMs) {
    const request = await read.next();
    if (request === undefined) return end(read.places(), WHOLE, read.isAtEnd());
    bytes += request.bytes;
    const { stream, sequence } = request;
    const start = takenOf(request, place);
    const events = request.events.slice(start, start + most - items.length);
    const storedAt = new Date(request.storedAt).toISOString();
    items.push(...events.map((event) => ({ storedAt, event })));
    const taken = start + events.length;
    if (taken < request.events.length) return end([...read.places()].with(stream, sequence), { stream, taken }, false);
  }
  return end(read.places(), WHOLE, false);
}

const WHOLE = { stream: 0, taken: 0 };

/** How many events of a request the page before has returned. */
function takenOf({ stream, sequence }: StoredEvents & { stream: number }, place: FeedPlace | undefined): number {
  return place !== undefined && place.stream === stream && place.places[stream] === sequence ? place.taken : 0;
}

function placeText({ places, stream, taken }: FeedPlace, reader: EventReader): string {
  return writePlaces([stream, taken, ...places], reader);
}

function readPlace(given: string, reader: EventReader): FeedPlace {
  const [stream, taken, ...places] = readPlaces(given, reader);
  if (stream === undefined || taken === undefined || places.length === 0) throw new ApiProblem('invalid_cursor');
  return { places, stream, taken };
}
