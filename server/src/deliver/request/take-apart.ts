import type { AcceptedEvent } from '@millrace/contract';
import type { Unread } from '../../domain/format.ts';
import type { Logger } from '../../log.ts';
import type { ConfigView } from '../../stream/config/config-bucket.ts';
import type { PulledRequest } from '../../stream/events/requests.ts';
import { deliverEvent, type EventNeeds, type Way } from './deliver-event.ts';
import { type Amount, type FairShares, newShare, openFairShares } from './fair-shares.ts';
import { routingOf } from '../attempt/routing-of.ts';
import { openSlices, type Slices } from './slices.ts';
import { openTurns, type Turns } from './turns.ts';
import { whenKept } from '../../stream/nats/when-available.ts';

/**
 * Takes requests apart into deliveries within a budget. A request waits unread for its turn; then it begins some deliveries in
 * each turn. As long as its source has room they are offered to the dispatcher. When the request has waited for a second they go
 * to their lanes instead, and for that there is a budget of the same size: receivers that are slow do not stop it.
 */
export type TakingApart = Disposable & {
  add(open: OpenRequest): void;
  /** Takes back all requests that were not read; those that were are taken apart to the end. */
  stop(): OpenRequest[];
};

export type OpenRequest = {
  request: PulledRequest;
  /** Deliveries under way, and one more while it is taken apart: so it cannot end meanwhile. */
  pending: number;
  takenAt: number;
};

export type TakeApartNeeds = EventNeeds & {
  config: ConfigView;
  /** The most that may be offered, and the most that may be on its way to the lanes; of all requests together. */
  most: Readonly<Amount>;
  /** Nothing of the request is pending any more. */
  finished(open: OpenRequest): void;
  /** It is for a newer process. */
  left(open: OpenRequest, why: string): void;
  log: Logger;
};

type Source = Record<Way, Amount> & { id: string; requests: number; hasLarge: boolean };
/** Small requests wait apart from large ones, and those that were begun apart from both. */
type Line = 'small' | 'large' | 'begun';
type Part = {
  open: OpenRequest;
  source: Source;
  events: AcceptedEvent[] | undefined;
  /** What each event takes in memory, on average. */
  bytesEach: number;
  /** Of each event, its place among the calls of the request. */
  places: number[];
  /** Places of calls that cannot be read or routed. */
  poisoned: Set<number>;
  next: number;
};

type State = {
  needs: TakeApartNeeds;
  budgets: Record<Way, FairShares>;
  sources: Map<string, Source>;
  turns: Turns<Source, Line, Part>;
  slices: Slices;
  /** Work that waits for the next slice. */
  putOff: (() => void)[];
  /** Bytes of the requests that were read and are not taken apart to the end: parsed, they take several times as much. */
  readBytes: number;
};

/** Deliveries that one request begins in one turn. */
const TURN_DELIVERIES = 100;
/** Places of poisoned calls that are named to people. */
const SHOWN = 20;
const SMALL_BYTES = 16_000;
const MAX_READ_BYTES = 8_000_000;
/** What a delivery takes in memory beside its event. */
const DELIVERY_BYTES = 1_000;
/** As long as a delivery waits for its destination: longer, and the requests behind this one would wait too. */
const PATIENCE_MS = 1_000;
const LOOK_MS = 100;

export function openTakingApart(needs: TakeApartNeeds): TakingApart {
  const slices = openSlices(() => goOn(state));
  const budgets = { offer: openFairShares(needs.most), park: openFairShares(needs.most) };
  const waiting = { sources: new Map(), turns: openTurns<Source, Line, Part>(), putOff: [], readBytes: 0 };
  const state: State = { needs, budgets, ...waiting, slices };
  // For requests whose patience ends while nothing else does.
  const looker = setInterval(() => goOn(state), LOOK_MS);
  return {
    add(open) {
      const source = join(state, open.request.sourceId);
      const line = isLarge(open) ? 'large' : 'small';
      state.turns.add(
        { key: source, line },
        { open, source, events: undefined, bytesEach: 0, places: [], poisoned: new Set(), next: 0 },
      );
      goOn(state);
    },
    stop() {
      const unread: OpenRequest[] = [];
      for (const part of state.turns.clear()) {
        if (part.events !== undefined) {
          state.turns.add({ key: part.source, line: 'begun' }, part);
          continue;
        }
        leave(state, part);
        unread.push(part.open);
      }
      return unread;
    },
    [Symbol.dispose]() {
      clearInterval(looker);
      slices[Symbol.dispose]();
    },
  };
}

function join({ sources }: State, id: string): Source {
  const source = sources.get(id) ?? { id, offer: newShare(), park: newShare(), requests: 0, hasLarge: false };
  sources.set(id, source);
  source.requests += 1;
  return source;
}

function leave(state: State, { source }: Part): void {
  source.requests -= 1;
  forgetIdle(state, source);
}

/** Not before its deliveries are done: what a source holds counts for its next request, however small its requests are. */
function forgetIdle({ sources }: State, { id, requests, offer, park }: Source): void {
  if (requests === 0 && offer.deliveries === 0 && park.deliveries === 0) sources.delete(id);
}

/** Gives turns until this slice of the event loop is used up, or nothing that waits has room. */
function goOn(state: State): void {
  const { slices, turns, putOff, budgets } = state;
  while (putOff.length > 0 && !slices.isSpent()) for (const work of putOff.splice(0, TURN_DELIVERIES)) work();
  const may = {
    key: ({ offer, park }: Source) => budgets.offer.hasRoom(offer) || budgets.park.hasRoom(park),
    item: (part: Part) => wayOf(state, part) !== undefined && canRead(state, part),
  };
  while (!slices.isSpent()) {
    const part = turns.next(may);
    if (part === undefined) return;
    takeTurn(state, part);
  }
}

/** Which way deliveries of this request may go now; undefined for neither. */
function wayOf({ budgets }: State, { open, source }: Part): Way | undefined {
  if (budgets.offer.hasRoom(source.offer)) return 'offer';
  const isLate = performance.now() - open.takenAt > PATIENCE_MS;
  return isLate && budgets.park.hasRoom(source.park) ? 'park' : undefined;
}

/**
 * By a dynamic threshold as well: large requests leave room for small ones. Of a source one large request at a time is taken
 * apart: should this process die, what it did of that one is done again, and of no other that is not begun to the end.
 */
function canRead({ readBytes }: State, { events, open, source }: Part): boolean {
  if (events !== undefined) return true;
  if (source.hasLarge && isLarge(open)) return false;
  return readBytes === 0 || open.request.bytes <= (MAX_READ_BYTES - readBytes) / 2;
}

function isLarge({ request }: OpenRequest): boolean {
  return request.bytes > SMALL_BYTES;
}

/** The configuration is asked in every turn: a destination that was deleted meanwhile gets nothing more. */
function takeTurn(state: State, part: Part): void {
  const { needs, slices, turns } = state;
  const { request } = part.open;
  const events = part.events ?? read(state, part);
  if (events === undefined) return;
  const routing = routingOf(needs.config, request.sourceId);
  const perEvent = 1 + routing.destinations.length;
  for (let begun = 0; begun < TURN_DELIVERIES && part.next < events.length; begun += perEvent) {
    const way = wayOf(state, part);
    const event = events[part.next];
    if (way === undefined || event === undefined) break;
    part.next += 1;
    slices.spend(perEvent);
    const isBegun = tryDeliver(state, part, { event, routing, way });
    if (!isBegun) part.poisoned.add(part.places[part.next - 1] ?? 0);
  }
  if (part.next < events.length) {
    turns.add({ key: part.source, line: 'begun' }, part);
    return;
  }
  state.readBytes -= request.bytes;
  if (isLarge(part.open)) part.source.hasLarge = false;
  leave(state, part);
  void finishApart(state, part);
}

/** Calls that cannot be read or routed are kept in quarantine, without the others, before the request may end. */
async function finishApart(state: State, { open, places, poisoned }: Part): Promise<void> {
  if (poisoned.size > 0) {
    const healthy = places.filter((place) => !poisoned.has(place));
    const why = `calls that cannot be read or routed, at ${[...poisoned].slice(0, SHOWN).join(', ')}`;
    await whenKept(() => open.request.setAside(why, healthy));
  }
  finishOne(state, open);
}

/** Undefined when the request is done with: it cannot be read, or only by a newer process. */
function read(state: State, part: Part): AcceptedEvent[] | undefined {
  const { request } = part.open;
  const calls = request.events();
  state.slices.spend(1 + request.bytes / 1_000);
  if (!calls.ok) {
    leave(state, part);
    void dismiss(state, part.open, calls);
    return undefined;
  }
  const { events, places, unreadable } = calls.value;
  part.events = events;
  part.bytesEach = sizeOfEach(events, request.bytes);
  part.places = places;
  part.poisoned = new Set(unreadable);
  state.readBytes += request.bytes;
  if (isLarge(part.open)) part.source.hasLarge = true;
  return events;
}

type Taken = { event: AcceptedEvent; routing: ReturnType<typeof routingOf>; way: Way };

/** False for a fault of ours: it must not keep the other events of the request from their receivers, nor be repeated for ever. */
function tryDeliver(state: State, part: Part, taken: Taken): boolean {
  const { open, source } = part;
  const { sourceId, place, trace = '' } = open.request;
  const bytes = DELIVERY_BYTES + part.bytesEach;
  const budget = state.budgets[taken.way];
  const share = source[taken.way];
  const begin = () => {
    open.pending += 1;
    budget.hold(share, bytes);
    return () => {
      budget.release(share, bytes);
      forgetIdle(state, source);
      finishOne(state, open);
    };
  };
  const soon = (work: () => void) => runSoon(state, work);
  try {
    deliverEvent(state.needs, { ...taken, sourceId, trace, begin, soon });
    return true;
  } catch (error) {
    state.needs.log.error({ place, messageId: taken.event.messageId, error: String(error) }, 'event.failed');
    return false;
  }
}

/** A request of a newer format is handed back; one that nobody can read is kept in quarantine before it is acknowledged. */
async function dismiss(state: State, open: OpenRequest, { problem, why }: Unread): Promise<void> {
  if (problem === 'newer') return state.needs.left(open, why);
  await whenKept(() => open.request.setAside(why));
  finishOne(state, open);
}

/** What a batch says once for all its calls, as a rule their context, is part of each event: it is counted with each of them. */
function sizeOfEach(events: readonly AcceptedEvent[], requestBytes: number): number {
  const [first] = events;
  if (first === undefined || events.length === 1) return requestBytes;
  return requestBytes / events.length + JSON.stringify(first.context ?? {}).length;
}

function runSoon({ slices, putOff }: State, work: () => void): void {
  if (slices.isSpent()) putOff.push(work);
  else work();
  slices.spend(1);
}

function finishOne({ needs, turns, slices }: State, open: OpenRequest): void {
  open.pending -= 1;
  if (open.pending === 0) needs.finished(open);
  // Room was made. Many deliveries end in one turn of the event loop, so the next one gives their room away.
  if (turns.size() > 0) slices.spend(0);
}
