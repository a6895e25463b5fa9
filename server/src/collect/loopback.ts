/**
 * Collect without engines, for `millrace listen`: the same paths, checks and answers as in production. An accepted request goes to
 * the caller instead of NATS.
 */
import type { IncomingMessage } from 'node:http';
import type { AcceptedEvent, RequestShape } from '@millrace/contract';
import type { SourceConfig } from '../domain/configuration.ts';
import { readRequest } from '../domain/read-request.ts';
import { openAddressReader } from '../http/client-address.ts';
import { openMetrics } from '../metrics/open-metrics.ts';
import type { Appended, RequestToAppend } from '../stream/events/append-request.ts';
import { NO_TAIL } from '../stream/signals/tail-writer.ts';
import { NO_TRACING } from '../tracing/open-tracing.ts';
import type { Answer } from './answer.ts';
import { answerRequest, type RequestNeeds } from './answer-request.ts';
import { hashOfKey, openKeyLookup } from './find-write-key.ts';
import { callsOf } from './hide-key.ts';
import type { RefusedRequest } from './note-refused.ts';
import { routeOf } from './route-of.ts';
import { openRateLimiter } from '../limits/rate-limit.ts';
import { openCallWatch } from './watch-calls.ts';

export { createHardenedServer } from '../http/hardened-server.ts';
export { type Answer, jsonAnswer, laterAnswer, problemAnswer } from './answer.ts';
export { type BodyRead, readBody } from './read-body.ts';
export { writeAnswer } from './write-answer.ts';

/** `place` counts from 0 in a batch; `bytes` are those of the call alone. */
export type HeardCall = { place: number; shape: RequestShape; bytes: number } & (
  | { kind: 'accepted'; event: AcceptedEvent; isRepeat: boolean }
  | { kind: 'refused'; code: string; message: string; call: unknown }
);

export type HeardRequest = { answer: Answer; calls: HeardCall[] };

export type LoopbackNeeds = {
  /** Takes accepted events; false when there is no room, and the client is told to come back later. */
  take(events: readonly AcceptedEvent[]): boolean;
  /** The only write key that is known; any key when absent. */
  writeKey?: string | undefined;
};

export type Loopback = {
  /** Whether the path belongs to the collection API and its browser libraries. */
  hasPath(path: string): boolean;
  hear(request: IncomingMessage): Promise<HeardRequest>;
};

export const LOOPBACK_SOURCE_ID = 'src_listen';

/** As many request ids as a busy client sends within production's duplicate window. */
const MAX_REMEMBERED = 20_000;
const UNLIMITED = { perSecond: 1e9, burst: 1e9 };

export function openLoopback({ take, writeKey }: LoopbackNeeds): Loopback {
  const shared = sharedNeeds(writeKey);
  const stored = new Set<string>();

  function append(request: RequestToAppend, calls: HeardCall[]): Appended {
    const heard = acceptedIn(request);
    const isRepeat = stored.has(request.id);
    const isTaken = isRepeat || take(heard.map(({ event }) => event));
    if (!isTaken) return { ok: false, why: 'too many events wait to be forwarded' };
    for (const call of heard) calls.push({ ...call, isRepeat });
    const [oldest] = stored.size >= MAX_REMEMBERED ? stored : [];
    if (oldest !== undefined) stored.delete(oldest);
    stored.add(request.id);
    return { ok: true, stream: '', sequence: 0, duplicate: isRepeat };
  }

  return {
    hasPath: (path) => routeOf(path).found,
    async hear(request) {
      const calls: HeardCall[] = [];
      const answer = await answerRequest(request, {
        ...shared,
        append: async (accepted) => append(accepted, calls),
        refused: { note: (_, refused) => void calls.push(...refusedIn(refused)) },
      });
      return { answer, calls: calls.toSorted((one, other) => one.place - other.place) };
    },
  };
}

function sharedNeeds(writeKey: string | undefined): Omit<RequestNeeds, 'append' | 'refused'> {
  const known = writeKey === undefined ? undefined : hashOfKey(writeKey);
  const source: SourceConfig = {
    id: LOOPBACK_SOURCE_ID,
    workspaceId: 'ws_listen',
    name: 'millrace listen',
    enabled: true,
    writeKeyHashes: [],
  };
  return {
    keys: openKeyLookup({ sourceByKeyHash: (hash) => (known === undefined || hash === known ? source : undefined) }),
    limiter: openRateLimiter(() => performance.now()),
    workspaces: openRateLimiter(() => performance.now()),
    defaultRate: UNLIMITED,
    workspaceCallsPerSecond: undefined,
    seen: { note: () => undefined, noteSuppressed: () => undefined },
    findSuppressed: () => [],
    watch: openCallWatch({ metrics: openMetrics(), tail: NO_TAIL, nowMs: Date.now }),
    tracing: NO_TRACING,
    nowMs: Date.now,
    random: Math.random,
    unavailable: () => undefined,
    keyless: { waitSeconds: () => 0, refused: () => undefined },
    readAddress: openAddressReader([]),
    publicUrl: undefined,
    whyNotReady: () => [],
    held: { bytes: 0, maxBytes: Infinity },
  };
}

type AcceptedCall = Extract<HeardCall, { kind: 'accepted' }>;

/** Reads the request as deliver reads a stored one. */
function acceptedIn({ envelope, body }: RequestToAppend): Omit<AcceptedCall, 'isRepeat'>[] {
  const read = readRequest(envelope, body);
  if (!read.ok) throw new Error(read.why);
  const { shape } = JSON.parse(envelope) as { shape: RequestShape };
  const sent: unknown = JSON.parse(Buffer.from(body).toString());
  const calls = shape === 'batch' ? callsOf(sent, shape) : [sent];
  return read.value.events.map((event, index) => {
    const place = read.value.places[index] ?? index;
    return { kind: 'accepted', place, shape, bytes: sizeOf(calls[place]), event };
  });
}

function refusedIn({ body, shape, problem, refused }: RefusedRequest): HeardCall[] {
  const calls = shape === 'batch' ? callsOf(body, shape) : [body];
  const all = refused.length === 0 && problem !== undefined ? [{ index: 0, ...problem }] : refused;
  return all.map(({ index, code, message }) => {
    const call = refused.length === 0 ? body : calls[index];
    return { kind: 'refused', place: index, shape, bytes: sizeOf(call), code, message, call };
  });
}

/** A refused call may be nested too deeply to be written. */
function sizeOf(call: unknown): number {
  try {
    return Buffer.byteLength(JSON.stringify(call) ?? '');
  } catch {
    return 0;
  }
}
