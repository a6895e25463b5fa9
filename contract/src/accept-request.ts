import {
  type AcceptedEvent,
  isCallType,
  isObject,
  type JsonObject,
  type JsonValue,
  type RequestShape,
  type UntrustedObject,
} from './call.ts';
import { readTimes } from './event-times.ts';
import { readId } from './ids.ts';

/** The facts that collect knew of a request when it took it. Body and envelope together make its events, in any process. */
export interface Envelope {
  shape: RequestShape;
  /** ISO 8601, UTC, with milliseconds. */
  receivedAt: string;
  requestId: string;
  /** The address the request came from; left out when no call may carry it. */
  address?: string;
  /** Calls from browsers carry their address without asking for it. */
  browser?: boolean;
  /** How many calls were accepted; envelopes of older versions do not have it. */
  calls?: number;
  /** The places of the refused calls in the batch. */
  refused?: number[];
  /** Of calls that Millrace made itself: they go to these destinations of this workspace, and to no others. */
  computed?: { workspaceId: string; destinations: string[] };
  /** The version of this format; left out: 1. */
  v?: number;
}

const KNOWN_FIELDS = new Set([
  'messageId',
  'type',
  'userId',
  'anonymousId',
  'groupId',
  'previousId',
  'event',
  'name',
  'category',
  'properties',
  'traits',
  'context',
  'integrations',
  'originalTimestamp',
  'sentAt',
  'receivedAt',
  'timestamp',
]);

/** The events of a stored request, each with its place among the calls, and the places that hold none that can be read. */
export interface AcceptedCalls {
  events: AcceptedEvent[];
  places: number[];
  unreadable: number[];
}

/** The events of a request that `checkRequest` took; the same input gives the same events, byte for byte. */
export function acceptRequest(body: unknown, envelope: Envelope): AcceptedEvent[] {
  return acceptCalls(body, envelope)?.events ?? [];
}

/** Undefined for a body without calls; `checkRequest` takes no such body, nor one with unreadable parts. */
export function acceptCalls(body: unknown, envelope: Envelope): AcceptedCalls | undefined {
  if (!isObject(body)) return undefined;
  const isBatch = envelope.shape === 'batch';
  const calls: unknown = isBatch ? body.batch : [body];
  if (!Array.isArray(calls)) return undefined;
  const shared = isBatch ? body : {};
  const refused = new Set(envelope.refused);
  const accepted: AcceptedCalls = { events: [], places: [], unreadable: [] };
  for (const [index, call] of calls.entries()) {
    if (refused.has(index)) continue;
    const event = tryAcceptCall(call, shared, { ...envelope, index });
    if (event === undefined) accepted.unreadable.push(index);
    else {
      accepted.events.push(event);
      accepted.places.push(index);
    }
  }
  return accepted;
}

/** One call that we stumble over must not hide the others of its request. */
function tryAcceptCall(...given: Parameters<typeof acceptCall>): AcceptedEvent | undefined {
  try {
    return acceptCall(...given);
  } catch {
    return undefined;
  }
}

type Fields = Record<string, JsonValue>;

function acceptCall(
  call: unknown,
  shared: UntrustedObject,
  place: Envelope & { index: number },
): AcceptedEvent | undefined {
  if (!isObject(call)) return undefined;
  const type = place.shape === 'batch' ? call.type : place.shape;
  if (!isCallType(type)) return undefined;
  const context = merge(asObject(shared.context), asObject(call.context)) ?? {};
  // Clients choose destinations in two places; the newer one, beside the context, wins.
  const chosen = merge(asObject(context.integrations), asObject(shared.integrations));
  const integrations = merge(chosen, asObject(call.integrations));
  const times = readTimes(call, shared.sentAt, place.receivedAt);
  const event: Fields = { messageId: readId(call.messageId) ?? `${place.requestId}-${place.index}`, type };
  put(event, 'userId', readId(call.userId));
  put(event, 'anonymousId', readId(call.anonymousId));
  put(event, 'groupId', readId(call.groupId));
  put(event, 'previousId', readId(call.previousId));
  put(event, 'event', call.event);
  put(event, 'name', call.name);
  put(event, 'category', call.category);
  put(event, 'properties', asObject(call.properties));
  put(event, 'traits', asObject(call.traits));
  event.context = withAddress(context, place);
  put(event, 'integrations', integrations);
  put(event, 'originalTimestamp', times.originalTimestamp);
  put(event, 'sentAt', times.sentAt);
  event.receivedAt = place.receivedAt;
  event.timestamp = times.timestamp;
  addOtherFields(event, call);
  // checkRequest saw to what each type requires, which the compiler cannot know here.
  return event as AcceptedEvent;
}

function put(event: Fields, field: string, value: unknown): void {
  if (value !== undefined && value !== null) event[field] = value as JsonValue;
}

/** Defined and not assigned, because a client may send a field called `__proto__`; the write key goes no further. */
function addOtherFields(event: Fields, call: UntrustedObject): void {
  for (const field of Object.keys(call)) {
    if (KNOWN_FIELDS.has(field) || field === 'writeKey') continue;
    Object.defineProperty(event, field, { value: call[field], enumerable: true, writable: true, configurable: true });
  }
}

/** Copies only if there are two: nothing changes an event, so it may share what it was parsed from. */
function merge(base: JsonObject | undefined, over: JsonObject | undefined): JsonObject | undefined {
  if (base === undefined) return over;
  return over === undefined ? base : { ...base, ...over };
}

/** An address the client gave stays: some send 0.0.0.0 so that the real one is not kept. */
function withAddress(context: JsonObject, { address, browser }: Envelope): JsonObject {
  const isWanted = browser === true || context.direct === true;
  if (!isWanted || address === undefined || (context.ip ?? null) !== null) return context;
  return { ...context, ip: address };
}

function asObject(value: unknown): JsonObject | undefined {
  return isObject(value) ? (value as JsonObject) : undefined;
}
