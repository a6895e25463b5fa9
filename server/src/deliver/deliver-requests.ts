import { setImmediate } from 'node:timers/promises';
import { type AcceptedEvent, type FilterRule, ruleText } from '@millrace/contract';
import type { Logger } from '../log.ts';
import type { ConfigView, DestinationConfig } from '../stream/config-bucket.ts';
import type { OutcomeEntry } from '../stream/outcomes.ts';
import type { PulledRequest } from '../stream/requests.ts';
import { deliveryId, newDelivery } from '../delivery/delivery.ts';
import type { Dispatcher } from './dispatcher.ts';
import { entryBase, namelessBase } from './outcome-entry.ts';
import { withheld } from '../delivery/withheld.ts';
import { route, type Routing, type SkipReason } from '../delivery/route.ts';
import type { Settlement } from './settle.ts';
import { ENTRIES, type Webhook, type WebhookOf } from './webhook.ts';

export type Requests = Disposable & {
  take(request: PulledRequest): void;
  /** Deliveries under way whose requests are not acknowledged yet. */
  pending(): number;
  open(): number;
};

export type RequestsNeeds = {
  config: ConfigView;
  webhookOf: WebhookOf;
  dispatcher: Pick<Dispatcher, 'offer'>;
  settle: Settlement['settle'];
  record(entry: OutcomeEntry): Promise<void>;
  now(): number;
  log: Logger;
};

type Open = { request: PulledRequest; pending: number; toldAt: number };
type State = {
  needs: RequestsNeeds;
  open: Map<string, Open>;
  pending: number;
  /** Acknowledged lately, in two generations. */
  done: { young: Set<string>; old: Set<string> };
};

const PART_EVENTS = 25;
const REMEMBERED = 10_000;
/** Well inside the consumer's ack_wait of seven seconds. */
const WORKING_EVERY_MS = 2_000;

/** Sees accepted requests through: each is acknowledged when all its deliveries are done or safe, and not before. */
export function openRequests(needs: RequestsNeeds): Requests {
  const state: State = { needs, open: new Map(), pending: 0, done: { young: new Set(), old: new Set() } };
  const teller = setInterval(() => tellWorking(state), WORKING_EVERY_MS / 4);
  return {
    take: (request) => take(state, request),
    pending: () => state.pending,
    open: () => state.open.size,
    [Symbol.dispose]: () => clearInterval(teller),
  };
}

function take(state: State, request: PulledRequest): void {
  const known = state.open.get(request.place);
  if (known !== undefined) {
    // Ours still, only the engine lost patience or its leader: the new copy is the one to acknowledge.
    known.request = request;
    return;
  }
  if (state.done.young.has(request.place) || state.done.old.has(request.place)) {
    // Sent to us once more before our acknowledgement arrived, or because it never did.
    request.ack();
    return;
  }
  // One more than there are deliveries, so that it cannot end while it is still being taken apart.
  const current = { request, pending: 1, toldAt: performance.now() };
  state.open.set(request.place, current);
  state.pending += 1;
  void begin(state, current);
}

/** A large request is begun in parts: while it is taken apart in one go, nothing else would get its turn. */
async function begin(state: State, current: Open): Promise<void> {
  const { config, log } = state.needs;
  let routing = routingOf(config, current.request.sourceId);
  for (const [index, event] of readEvents(current.request, log).entries()) {
    if (index % PART_EVENTS === PART_EVENTS - 1) {
      await setImmediate();
      routing = routingOf(config, current.request.sourceId);
    }
    tryDeliver(state, current, { event, routing });
  }
  finishOne(state, current);
}

function routingOf(config: ConfigView, sourceId: string): Routing {
  const markOf = (userId: string) => config.userMark(sourceId, userId);
  return {
    destinations: config.destinationsOf(sourceId),
    isBlocked: (name) => config.isEventBlocked(sourceId, name),
    accepts: (catalog) => ENTRIES.get(catalog)?.accepts,
    withheld: (event) => withheld(event, markOf),
  };
}

type Taken = { event: AcceptedEvent; routing: Routing };

/** A fault of ours with one event must not keep the others of its request from their receivers, nor be repeated for ever. */
function tryDeliver(state: State, current: Open, taken: Taken): void {
  try {
    deliverEvent(state, current, taken);
  } catch (error) {
    const { place } = current.request;
    state.needs.log.error({ place, messageId: taken.event.messageId, error: String(error) }, 'event.failed');
  }
}

/** What cannot be read now never will be: it stays in the stream for people, and is not tried for ever. */
function readEvents(request: PulledRequest, log: Logger): AcceptedEvent[] {
  try {
    return request.events();
  } catch (error) {
    log.error({ place: request.place, error: String(error) }, 'request.unreadable');
    return [];
  }
}

function deliverEvent(state: State, current: Open, { event, routing }: Taken): void {
  const { webhookOf } = state.needs;
  for (const routed of route(event, routing)) {
    if (routed.kind === 'delivery') deliver(state, current, { event, webhook: webhookOf(routed.destination) });
    else skip(state, current, { event, ...routed });
  }
}

type Skipped = { event: AcceptedEvent; destination: DestinationConfig; reason: SkipReason; rule?: FilterRule };

function skip(state: State, current: Open, { event, destination, reason, rule }: Skipped): void {
  const { sourceId, id: destinationId, workspaceId } = destination;
  const owner = {
    workspaceId,
    sourceId,
    destinationId,
    deliveryId: deliveryId(destinationId, sourceId, event.messageId),
  };
  current.pending += 1;
  state.pending += 1;
  const baseOf = reason === 'erased' || reason === 'suppressed' ? namelessBase : entryBase;
  const base = baseOf(event, owner, state.needs.now());
  const stopped = rule === undefined ? {} : { rule: ruleText(rule) };
  const told = state.needs.record({ ...base, kind: 'skipped', reason, ...stopped });
  void told.then(() => finishOne(state, current));
}

function deliver(state: State, current: Open, { event, webhook }: { event: AcceptedEvent; webhook: Webhook }): void {
  const { dispatcher, settle, now } = state.needs;
  const id = deliveryId(webhook.destinationId, current.request.sourceId, event.messageId);
  const delivery = newDelivery(id, event, now());
  const { trace = '' } = current.request;
  if (trace !== '') delivery.trace = trace;
  current.pending += 1;
  state.pending += 1;
  dispatcher.offer({
    delivery,
    webhook,
    finish(made) {
      void settle(delivery, webhook, made).then(() => finishOne(state, current));
    },
  });
}

function finishOne(state: State, current: Open): void {
  current.pending -= 1;
  state.pending -= 1;
  if (current.pending > 0) return;
  const { place } = current.request;
  state.open.delete(place);
  remember(state, place);
  current.request.ack();
}

/** Enough for every request that the engine can still believe to be unacknowledged. */
function remember({ done }: State, place: string): void {
  done.young.add(place);
  if (done.young.size < REMEMBERED) return;
  done.old = done.young;
  done.young = new Set();
}

function tellWorking({ open }: State): void {
  const now = performance.now();
  for (const current of open.values()) {
    if (now - current.toldAt < WORKING_EVERY_MS) continue;
    current.request.working();
    current.toldAt = now;
  }
}
