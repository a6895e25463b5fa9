/**
 * Takes requests apart into deliveries within a budget. A request is unread (it waits for its turn), begun (some of its deliveries
 * begin in each turn), apart (all have begun) and finished (all are done or safe). Turns move it on, as long as its source has
 * room in the budget. Its deliveries are offered to the dispatcher; when the request has waited for a second they go to their
 * lanes instead, within a second budget of the same size: slow receivers do not stop it.
 */
import type { AcceptedEvent } from '@millrace/contract';
import type { Unread } from '../../domain/format.ts';
import { type Delivery, eventOrder, isOfSameUser, requestOrder } from '../../domain/delivery.ts';
import type { ComputedRoute } from '../../domain/read-request.ts';
import type { Routing } from '../../domain/route-event.ts';
import type { Logger } from '../../log.ts';
import type { DeliverConfig } from '../../stream/config/config-bucket.ts';
import type { PulledRequest } from '../../stream/events/requests.ts';
import { type Chains, type Link, openChains } from './chains.ts';
import { deliverEvent, type EventNeeds, type Way } from './deliver-event.ts';
import { type Amount, newShare, openFairShares } from './fair-shares.ts';
import { routingOf } from '../attempt/routing-of.ts';
import { openSlices } from './slices.ts';
import { openTurns, type TurnRule } from './turns.ts';
import { whenKept } from '../../stream/nats/when-available.ts';

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
  config: DeliverConfig;
  /** The most that may be offered, and the most that may be on its way to the lanes; of all requests together. */
  most: Readonly<Amount>;
  /** All deliveries of the request are done or safe. */
  finished(open: OpenRequest): void;
  /** Only a newer process can read it. */
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
  computed: ComputedRoute | undefined;
  /** The memory that each event takes, on average. */
  bytesEach: number;
  /** The part of the events' order that they share. */
  order: string;
  /** Of each event, its place among the calls of the request. */
  places: number[];
  /** Places of calls that cannot be read or routed. */
  poisoned: Set<number>;
  /** Only if a destination of its wants them. */
  chains: Chains | undefined;
  next: number;
};

/** Deliveries that one request begins in one turn. */
const TURN_DELIVERIES = 100;
/** How many places of poisoned calls the reason names. */
const SHOWN = 20;
const SMALL_BYTES = 16_000;
const MAX_READ_BYTES = 8_000_000;
/** The memory that a delivery takes beside its event. */
const DELIVERY_BYTES = 1_000;
/** As long as a delivery waits for its destination: longer, and the requests behind this one would wait too. */
const PATIENCE_MS = 1_000;
const LOOK_MS = 100;

// oxlint-disable-next-line max-lines-per-function -- a factory: its parts share its state
export function openTakingApart(needs: TakeApartNeeds): TakingApart {
  const slices = openSlices(goOn);
  const budgets = { offer: openFairShares(needs.most), park: openFairShares(needs.most) };
  const sources = new Map<string, Source>();
  const turns = openTurns<Source, Line, Part>();
  /** Work that waits for the next slice. */
  const putOff: (() => void)[] = [];
  /** Bytes of the requests that were read and are not apart yet: parsed, they take several times as much. */
  let readBytes = 0;
  const may: TurnRule<Source, Part> = {
    key: ({ offer, park }) => budgets.offer.hasRoom(offer) || budgets.park.hasRoom(park),
    item: (part) => wayOf(part) !== undefined && canRead(part),
  };
  let looker: NodeJS.Timeout | undefined;

  function join(id: string): Source {
    const source = sources.get(id) ?? { id, offer: newShare(), park: newShare(), requests: 0, hasLarge: false };
    sources.set(id, source);
    source.requests += 1;
    return source;
  }

  function leave({ source }: Part): void {
    source.requests -= 1;
    forgetIdle(source);
  }

  /** Not before its deliveries are done: they count for the source's next request, however small its requests are. */
  function forgetIdle({ id, requests, offer, park }: Source): void {
    if (requests === 0 && offer.deliveries === 0 && park.deliveries === 0) sources.delete(id);
  }

  /** While requests wait: the patience of one may end while no delivery does. */
  function keepLooking(): void {
    if (turns.size() > 0) looker ??= setInterval(look, LOOK_MS);
  }

  function look(): void {
    goOn();
    if (turns.size() === 0) stopLooking();
  }

  function stopLooking(): void {
    clearInterval(looker);
    looker = undefined;
  }

  /** Gives turns until this slice of the event loop is used up, or no waiting request has room. */
  function goOn(): void {
    while (putOff.length > 0 && !slices.isSpent()) for (const work of putOff.splice(0, TURN_DELIVERIES)) work();
    while (!slices.isSpent()) {
      const part = turns.next(may);
      if (part === undefined) return;
      takeTurn(part);
    }
  }

  /** Which way deliveries of this request may go now; undefined for neither. */
  function wayOf({ open, source }: Part): Way | undefined {
    if (budgets.offer.hasRoom(source.offer)) return 'offer';
    const isLate = performance.now() - open.takenAt > PATIENCE_MS;
    return isLate && budgets.park.hasRoom(source.park) ? 'park' : undefined;
  }

  /**
   * A dynamic threshold here as well: large requests leave room for small ones. A source has one large request taken apart at a
   * time: should this process die, only that one is partly repeated.
   */
  function canRead({ events, open, source }: Part): boolean {
    if (events !== undefined) return true;
    if (source.hasLarge && isLarge(open)) return false;
    return readBytes === 0 || open.request.bytes <= (MAX_READ_BYTES - readBytes) / 2;
  }

  /** Reads the configuration in every turn: a destination that was deleted meanwhile gets nothing more. */
  function takeTurn(part: Part): void {
    const { request } = part.open;
    const events = part.events ?? read(part);
    if (events === undefined) return;
    const routing = routingOf(needs.config, request.sourceId, part.computed);
    const perEvent = 1 + routing.destinations.length;
    for (let begun = 0; begun < TURN_DELIVERIES && part.next < events.length; begun += perEvent) {
      const way = wayOf(part);
      const event = events[part.next];
      if (way === undefined || event === undefined) break;
      part.next += 1;
      slices.spend(perEvent);
      const isBegun = tryDeliver(part, event, routing, way);
      if (!isBegun) part.poisoned.add(part.places[part.next - 1] ?? 0);
    }
    if (part.next < events.length) {
      turns.add({ key: part.source, line: 'begun' }, part);
      keepLooking();
      return;
    }
    readBytes -= request.bytes;
    if (isLarge(part.open)) part.source.hasLarge = false;
    part.chains?.close();
    leave(part);
    void finishApart(part);
  }

  /** Quarantine keeps the calls that cannot be read or routed, without the others, before the request may end. */
  async function finishApart({ open, places, poisoned }: Part): Promise<void> {
    if (poisoned.size > 0) {
      const healthy = places.filter((place) => !poisoned.has(place));
      const why = `calls that cannot be read or routed, at ${[...poisoned].slice(0, SHOWN).join(', ')}`;
      await whenKept(() => open.request.setAside(why, healthy));
    }
    finishOne(open);
  }

  /** Undefined when the request cannot be read, or only by a newer process. */
  function read(part: Part): AcceptedEvent[] | undefined {
    const { request } = part.open;
    const calls = request.events();
    slices.spend(1 + request.bytes / 1_000);
    if (!calls.ok) {
      leave(part);
      void dismiss(part.open, calls);
      return undefined;
    }
    const { events, computed, places, unreadable } = calls.value;
    const [first] = events;
    part.events = events;
    if (first !== undefined) part.order = requestOrder(first.receivedAt, request.stored);
    part.computed = computed;
    part.bytesEach = sizeOfEach(events, request.bytes);
    part.places = places;
    part.poisoned = new Set(unreadable);
    readBytes += request.bytes;
    if (isLarge(part.open)) part.source.hasLarge = true;
    return events;
  }

  /** A request of a newer format is handed back; an unreadable one is kept in quarantine before it is acknowledged. */
  async function dismiss(open: OpenRequest, { problem, why }: Unread): Promise<void> {
    if (problem === 'newer') return needs.left(open, why);
    await whenKept(() => open.request.setAside(why));
    finishOne(open);
  }

  /** False for a bug of ours: it must not keep the other events from their receivers, nor repeat the request for ever. */
  function tryDeliver(part: Part, event: AcceptedEvent, routing: Routing, way: Way): boolean {
    const { open, source, bytesEach } = part;
    const { sourceId, place, trace = '' } = open.request;
    const order = eventOrder(part.order, part.places[part.next - 1] ?? 0);
    const bytes = DELIVERY_BYTES + bytesEach;
    const budget = budgets[way];
    const share = source[way];
    const begin = () => {
      open.pending += 1;
      budget.hold(share, bytes);
      return () => {
        budget.release(share, bytes);
        forgetIdle(source);
        finishOne(open);
      };
    };
    const isMoreToCome = (last: Delivery['event']) => isMoreOf(last, part);
    const chain = (link: Link) => (part.chains ??= openChains({ ...needs, soon, isMoreToCome })).add(link);
    try {
      deliverEvent(needs, { event, order, routing, way, sourceId, trace, begin, soon, chain });
      return true;
    } catch (error) {
      needs.log.error({ place, messageId: event.messageId, error: String(error) }, 'event.failed');
      return false;
    }
  }

  function soon(work: () => void): void {
    if (slices.isSpent()) putOff.push(work);
    else work();
    slices.spend(1);
  }

  function finishOne(open: OpenRequest): void {
    open.pending -= 1;
    if (open.pending === 0) needs.finished(open);
    // There is room now. Many deliveries end in one turn of the event loop, so the next turn gives their room away.
    if (turns.size() > 0) slices.spend(0);
  }

  return {
    add(open) {
      const source = join(open.request.sourceId);
      const line = isLarge(open) ? 'large' : 'small';
      const nothing = { events: undefined, computed: undefined, bytesEach: 0, order: '', places: [] };
      const unread = { ...nothing, poisoned: new Set<number>(), chains: undefined, next: 0 };
      turns.add({ key: source, line }, { open, source, ...unread });
      goOn();
      keepLooking();
    },
    stop() {
      const unread: OpenRequest[] = [];
      for (const part of turns.clear()) {
        if (part.events !== undefined) {
          turns.add({ key: part.source, line: 'begun' }, part);
          continue;
        }
        leave(part);
        unread.push(part.open);
      }
      return unread;
    },
    [Symbol.dispose]() {
      stopLooking();
      slices[Symbol.dispose]();
    },
  };
}

function isLarge({ request }: OpenRequest): boolean {
  return request.bytes > SMALL_BYTES;
}

/** Whether events that were not taken yet are of the same user. */
function isMoreOf(event: Delivery['event'], { events = [], next }: Part): boolean {
  return events.some((each, index) => index >= next && isOfSameUser(each, event));
}

/** A batch may give a context once for all its calls. It is part of each event, and counted with each. */
function sizeOfEach(events: readonly AcceptedEvent[], requestBytes: number): number {
  const [first] = events;
  if (first === undefined || events.length === 1) return requestBytes;
  return requestBytes / events.length + JSON.stringify(first.context ?? {}).length;
}
