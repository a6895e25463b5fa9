/** Finds one stored event near the time at which it was received, in a bounded part of the streams. */
import type { AcceptedEvent } from '@millrace/contract';
import { eventOrder, requestOrder } from '../../domain/delivery.ts';
import { recordText } from '../../store/record-text.ts';
import { type EventReader, ownStream } from '../../stream/events/stored-events.ts';

/** `messageId` as the record has it. */
export type SoughtEvent = { sourceId: string; messageId: string; receivedAt: number };

export type FoundEvent = {
  kind: 'found';
  event: AcceptedEvent;
  order: string;
  /** By the engine's clock. */
  storedAt: number;
  /** The request that it came in: the event's place, counted from 1, of so many, and the bytes of all. */
  request: { place: number; events: number; bytes: number };
};

/** `gone`: nothing of that time has it. `unsure`: more came at that time than is looked through. */
export type EventFound = FoundEvent | { kind: 'gone' } | { kind: 'unsure' };

/** A request is stored some time after it was received: later by a failover, earlier by a clock that is behind. */
const SLACK_MS = 60_000;
/** Most clocks are closer: so the search begins here, and looks at the time before it afterwards. */
const CLOSE_MS = 2_000;
const READ_AT_ONCE = 32;
const MAX_REQUESTS = 4_000;
const MAX_MS = 2_000;

export async function findEvent(reader: EventReader, sought: SoughtEvent, maxMs = MAX_MS): Promise<EventFound> {
  const { receivedAt } = sought;
  const budget = { requests: MAX_REQUESTS, untilMs: performance.now() + maxMs };
  const near = { from: receivedAt - CLOSE_MS, to: receivedAt + SLACK_MS };
  const before = { from: receivedAt - SLACK_MS, to: receivedAt - CLOSE_MS };
  for (const span of [near, before]) {
    const found = await findWithin(reader, { ...sought, ...span }, budget);
    if (found.kind !== 'gone') return found;
  }
  return { kind: 'gone' };
}

type Span = SoughtEvent & { from: number; to: number };
type Budget = { requests: number; untilMs: number };

/** Goes forward in all streams side by side: the event may be in any of them. */
async function findWithin(reader: EventReader, span: Span, budget: Budget): Promise<EventFound> {
  const places = new Map<number, number>();
  for (let stream = 0; stream < reader.streams; stream += 1) {
    const first = await reader.firstAt(stream, span.sourceId, span.from);
    if (first !== undefined) places.set(stream, first);
  }
  while (places.size > 0) {
    for (const [stream, from] of places) {
      if (budget.requests <= 0 || performance.now() >= budget.untilMs) return { kind: 'unsure' };
      const requests = await reader.read({ stream, sourceId: span.sourceId, from }, READ_AT_ONCE);
      budget.requests -= requests.length;
      for (const request of requests) {
        const index = request.storedAt > span.to ? -1 : request.events.findIndex((event) => isSought(event, span));
        const event = request.events[index];
        if (event === undefined) continue;
        const { storedAt, bytes, events, places, sequence } = request;
        const ofRequest = requestOrder(event.receivedAt, { stream: ownStream(reader, stream), sequence });
        const order = eventOrder(ofRequest, places[index] ?? index);
        const around = { place: index + 1, events: events.length, bytes };
        return { kind: 'found', event, order, storedAt, request: around };
      }
      const last = requests.at(-1);
      if (last === undefined || last.storedAt > span.to) places.delete(stream);
      else places.set(stream, last.sequence + 1);
    }
  }
  return { kind: 'gone' };
}

/** A message id may come again with another request: the time tells which it is. */
function isSought({ messageId, receivedAt }: AcceptedEvent, sought: SoughtEvent): boolean {
  return recordText(messageId) === sought.messageId && Date.parse(receivedAt) === sought.receivedAt;
}
