import { isUtf8 } from 'node:buffer';
import { hash, randomBytes } from 'node:crypto';
import { checkRequest, type Envelope, type RequestShape, type RequestTaken } from '@millrace/contract';
import { REQUEST_FORMATS } from '../domain/format.ts';
import type { Appended, RequestToAppend } from '../stream/events/append-request.ts';
import type { Traced, Tracing } from '../tracing/open-tracing.ts';
import { type Answer, laterAnswer, limitAnswer, problemAnswer, refusedAnswer, storedAnswer } from './answer.ts';
import { type KeyFound, type KeyLookup, keyOfBody } from './find-write-key.ts';
import { callsOf, type TakenBody, withoutKeys } from './hide-key.ts';
import type { Refused } from './note-refused.ts';
import type { FindSuppressed } from './find-suppressed.ts';
import type { Seen } from './note-seen.ts';
import type { RateLimit, RateLimiter } from '../limits/rate-limit.ts';
import type { CallWatch, Watched } from './watch-calls.ts';

export type CallsRequest = {
  shape: RequestShape;
  /** From a browser or a pixel: the sender is the user's own device, so its address is the user's. */
  browser: boolean;
  authorization: string | undefined;
  address: string;
  bytes: Buffer;
};

export type AcceptNeeds = {
  keys: KeyLookup;
  append(request: RequestToAppend): Promise<Appended>;
  /** Of sources. */
  limiter: RateLimiter;
  /** Of workspaces. */
  workspaces: RateLimiter;
  seen: Pick<Seen, 'note' | 'noteSuppressed'>;
  findSuppressed: FindSuppressed;
  refused: Pick<Refused, 'note'>;
  watch: CallWatch;
  tracing: Tracing;
  defaultRate: RateLimit;
  workspaceCallsPerSecond: number | undefined;
  nowMs(): number;
  /** From 0 up to 1; spreads the retries of clients. */
  random(): number;
  /** Called with the reason when accepted calls could not be stored. */
  unavailable(why: string): void;
};

/** A request that is refused as a whole counts as if its calls were this large: reading it was the same work. */
const REFUSED_CALL_BYTES = 200;

/** The refusal that the header alone leads to; undefined when the body has to be read. */
export function refusedEarly(authorization: string | undefined, needs: AcceptNeeds): Answer | undefined {
  const fromHeader = needs.keys.byHeader(authorization);
  if (fromHeader === 'bearer') return problemAnswer('oauth_not_supported');
  if (fromHeader === 'none') return undefined;
  const entered = enter(fromHeader, needs);
  return entered.ok ? undefined : entered.answer;
}

/** The heart of collect: from the bytes of a request to its answer. 200 only after NATS acknowledged that it is stored. */
export function acceptCalls(request: CallsRequest, needs: AcceptNeeds): Answer | Promise<Answer> {
  const parsed = parseJson(request.bytes);
  if (!parsed.ok) return problemAnswer('malformed_json');
  const fromHeader = needs.keys.byHeader(request.authorization);
  // The key in the header may have been revoked while the body came in, so it is looked up again.
  const entered = enter(typeof fromHeader === 'string' ? sourceOfBody(parsed.value, needs) : fromHeader, needs);
  if (!entered.ok) return entered.answer;
  const { source, writeKey } = entered.found;
  const check = checkRequest(parsed.value, request.shape, request.bytes.length);
  const { shape } = request;
  const hidden = needs.findSuppressed(source.id, parsed.value, shape);
  const watched = { sourceId: source.id, writeKey, body: parsed.value, shape, hidden };
  // Parsed, a body can take twenty times its bytes: while NATS stores it, collect holds only the bytes.
  const stored = needs.watch.isShown(source.id) ? watched : { ...watched, body: undefined };
  if (!check.ok) {
    needs.refused.note(entered.found, { body: parsed.value, shape, hidden, ...check });
    needs.watch.refused(watched, check);
    spend(source, 1 + Math.floor(request.bytes.length / REFUSED_CALL_BYTES), needs);
    return refusedAnswer(check.problem, check.refused);
  }
  if (check.refused.length > 0)
    needs.refused.note(entered.found, { body: parsed.value, shape, hidden, refused: check.refused });
  spend(source, check.accepted, needs);
  const dropped = withoutRefused(hidden, check);
  if (dropped.length > 0 && dropped.length === check.accepted) {
    needs.seen.noteSuppressed(source, dropped.length);
    return storedAnswer(check.accepted, check.refused);
  }
  needs.seen.note(entered.found, parsed.value, request.shape);
  // A client's own trace context is not trusted: a trace begins here.
  const traced = needs.tracing.start('millrace.call', undefined, { 'millrace.source_id': source.id });
  const taken = { body: parsed.value, shape, refused: check.refused, dropped: hidden, writeKey };
  const id = requestId(source.id, taken, check.messageIds);
  return store(
    request,
    { check, source, watched: stored, traced, id, dropped, body: withoutKeys(request.bytes, taken) },
    needs,
  );
}

function sourceOfBody(body: unknown, { keys }: AcceptNeeds): KeyFound | undefined {
  const writeKey = keyOfBody(body);
  return writeKey === undefined ? undefined : keys.byKey(writeKey);
}

type Entered = { ok: true; found: KeyFound } | { ok: false; answer: Answer };

/** Whether a source with this key may send now, by its own limit and by that of its workspace. */
function enter(found: KeyFound | undefined, needs: AcceptNeeds): Entered {
  if (found === undefined) return { ok: false, answer: problemAnswer('invalid_write_key') };
  const { source } = found;
  if (!source.enabled) return { ok: false, answer: problemAnswer('source_disabled') };
  const waitSeconds = needs.limiter.waitSeconds(source.id, source.rateLimit ?? needs.defaultRate);
  if (waitSeconds > 0) {
    needs.watch.shed('rate_limit', source.id);
    return { ok: false, answer: laterAnswer('rate_limited', waitSeconds) };
  }
  const perSecond = source.limits?.callsPerSecond ?? needs.workspaceCallsPerSecond;
  if (perSecond === undefined) return { ok: true, found };
  const limit = { perSecond, burst: perSecond * 2 };
  const workspaceWaits = needs.workspaces.waitSeconds(source.workspaceId, limit);
  if (workspaceWaits <= 0) return { ok: true, found };
  needs.watch.shed('workspace_limit', source.id);
  return { ok: false, answer: limitAnswer('callsPerSecond', perSecond, workspaceWaits) };
}

function spend(source: KeyFound['source'], calls: number, { limiter, workspaces }: AcceptNeeds): void {
  limiter.spend(source.id, calls);
  workspaces.spend(source.workspaceId, calls);
}

/** The calls of suppressed users that were not refused: the sender sees them accepted; they are counted and not stored. */
function withoutRefused(hidden: number[], { refused }: RequestTaken): number[] {
  if (hidden.length === 0 || refused.length === 0) return hidden;
  const left = new Set(refused.map(({ index }) => index));
  return hidden.filter((index) => !left.has(index));
}

type ToStore = {
  check: RequestTaken;
  source: KeyFound['source'];
  watched: Watched;
  traced: Traced | undefined;
  id: string;
  dropped: number[];
  body: Buffer;
};

async function store(
  request: CallsRequest,
  { check, source, watched, traced, id, dropped, body }: ToStore,
  needs: AcceptNeeds,
): Promise<Answer> {
  const receivedAt = new Date(needs.nowMs()).toISOString();
  const envelope: Envelope = {
    shape: request.shape,
    receivedAt,
    requestId: id,
    calls: check.accepted - dropped.length,
    v: REQUEST_FORMATS.sent,
  };
  if (request.browser) envelope.browser = true;
  if (request.browser || check.wantsAddress) envelope.address = request.address;
  const left = [...check.refused.map((refusal) => refusal.index), ...dropped];
  if (left.length > 0) envelope.refused = left;
  const startedAt = performance.now();
  const append = traced && needs.tracing.start('millrace.append', traced.traceparent);
  const appended = await needs.append({
    ...placeOf(source),
    id,
    home: Number.parseInt(id.slice(0, 8), 16),
    envelope: JSON.stringify(envelope),
    trace: append?.traceparent,
    body,
  });
  const problem = appended.ok ? undefined : appended.why;
  append?.end({}, problem);
  traced?.end({ 'millrace.accepted': check.accepted, 'millrace.refused': check.refused.length }, problem);
  if (appended.ok) {
    if (dropped.length > 0) needs.seen.noteSuppressed(source, dropped.length);
    needs.watch.appended((performance.now() - startedAt) / 1_000);
    needs.watch.stored(watched, { ...check, at: receivedAt });
    return storedAnswer(check.accepted, check.refused);
  }
  needs.watch.shed('engine', watched.sourceId);
  needs.unavailable(appended.why);
  return laterAnswer('unavailable', 1 + Math.floor(needs.random() * 3));
}

function placeOf({ id: sourceId, cell, spare }: KeyFound['source']) {
  return { sourceId, cell, spare };
}

/**
 * Equal when the same source sends the same calls again: their ids in order, and their types, because one id may stand for
 * calls of two types. Without message ids nothing tells a retry from a new call.
 */
function requestId(sourceId: string, { body, shape }: TakenBody, messageIds: string[] | undefined): string {
  if (messageIds === undefined) return randomBytes(16).toString('hex');
  const types = shape === 'batch' ? callsOf(body, shape).map(typeOf) : shape;
  // JSON keeps ["a","b"] apart from ["a,b"].
  return hash('sha256', JSON.stringify([sourceId, types, messageIds])).slice(0, 32);
}

function typeOf(call: unknown): unknown {
  return typeof call === 'object' && call !== null && 'type' in call && typeof call.type === 'string'
    ? call.type
    : null;
}

type Parsed = { ok: true; value: unknown } | { ok: false };

/** Bytes that are not UTF-8 would become replacement characters without a word, so they are refused. */
function parseJson(bytes: Buffer): Parsed {
  if (!isUtf8(bytes)) return { ok: false };
  try {
    return { ok: true, value: JSON.parse(bytes.toString()) };
  } catch {
    return { ok: false };
  }
}
