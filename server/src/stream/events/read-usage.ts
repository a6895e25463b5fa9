import {
  DeliverPolicy,
  jetstream,
  jetstreamManager,
  type JetStreamManager,
  type JsMsg,
  type StreamInfo,
} from '@nats-io/jetstream';
import type { Connection } from '../nats/connect-nats.ts';
import { readAt, readNextSince } from '../nats/read-subject.ts';
import type { StreamPlace } from '../nats/stream-place.ts';
import { readEnvelope, readRequest } from '../../domain/read-request.ts';
import { sourceOfEvents } from '../layout/layout.ts';
import { ENVELOPE_HEADER } from './request-message.ts';

/** How many calls one accepted request held. */
export type RequestUsage = { sourceId: string; receivedAt: string; calls: number };
/** The last request that was counted, as the store keeps it. Without the times, only its sequence is known. */
export type CountedPlace = { sequence: number; times?: Pick<StreamPlace, 'createdAt' | 'storedAt'> | undefined };
/** `through`: everything up to there has been read, or is gone; smaller than asked when the stream was made again. */
export type UsageRead = { requests: RequestUsage[]; through: CountedPlace };
export type StreamEnd = Pick<StreamPlace, 'createdAt' | 'sequence'>;

export type UsageReader = {
  stream: string;
  /** The last request in the stream. */
  end(): Promise<StreamEnd>;
  /** The requests stored after this one, at most USAGE_AT_ONCE of them. */
  readAfter(counted: CountedPlace): Promise<UsageRead>;
};

/** Requests read at a time. */
export const USAGE_AT_ONCE = 5_000;
const EXPIRES_MS = 2_000;

/** Reads an event stream for its counts alone: the headers have them, and the bodies stay where they are. */
export function readUsage(connection: Connection, stream: string): UsageReader {
  return {
    stream,
    end: () => endOf(connection, stream),
    readAfter: (counted) => readAfter(connection, stream, counted),
  };
}

async function endOf({ nc }: Connection, stream: string): Promise<StreamEnd> {
  const manager = await jetstreamManager(nc, { checkAPI: false, timeout: 5_000 });
  const { created, state } = await manager.streams.info(stream);
  return { createdAt: Date.parse(created), sequence: state.last_seq };
}

async function readAfter({ nc }: Connection, stream: string, counted: CountedPlace): Promise<UsageRead> {
  const manager = await jetstreamManager(nc, { checkAPI: false, timeout: 5_000 });
  const info = await manager.streams.info(stream);
  const { state } = info;
  const createdAt = Date.parse(info.created);
  const from = await firstUncounted(manager, info, counted);
  if (from > state.last_seq) return { requests: [], through: endAfter(info, counted) };
  const consumer = await jetstream(nc).consumers.get(stream, {
    deliver_policy: DeliverPolicy.StartSequence,
    opt_start_seq: from,
    headers_only: true,
  });
  const most = Math.min(USAGE_AT_ONCE, state.last_seq - from + 1);
  const requests: RequestUsage[] = [];
  let through = counted;
  for await (const message of await consumer.fetch({ max_messages: most, expires: EXPIRES_MS })) {
    requests.push(await usageOf(message, manager));
    through = { sequence: message.seq, times: { createdAt, storedAt: message.time.getTime() } };
    if (message.seq >= state.last_seq) break;
  }
  await consumer.delete();
  return { requests, through };
}

/**
 * A stream that was deleted and made again gives sequences again, and a restored one has requests that are counted already. So the counted
 * request is known by its time, and in another stream all that were stored later are to be counted.
 */
async function firstUncounted(manager: JetStreamManager, info: StreamInfo, counted: CountedPlace): Promise<number> {
  const { config, state } = info;
  if (await hasCounted(manager, info, counted)) return Math.max(counted.sequence + 1, state.first_seq);
  if (counted.times === undefined) return Math.max(1, state.first_seq);
  const next = await readNextSince(manager, config.name, counted.times.storedAt + 1);
  return next?.seq ?? state.last_seq + 1;
}

async function hasCounted(
  manager: JetStreamManager,
  { config, created, state }: StreamInfo,
  { sequence, times }: CountedPlace,
): Promise<boolean> {
  if (sequence === 0) return true;
  if (sequence > state.last_seq) return false;
  if (times === undefined) return true;
  const message = sequence < state.first_seq ? undefined : await readAt(manager, config.name, sequence);
  // Old requests are removed: then the creation time decides.
  if (message === undefined) return Date.parse(created) === times.createdAt;
  return Math.abs(message.time.getTime() - times.storedAt) <= 1;
}

/** Nothing is left to count: the next look goes on after the last request. An empty stream has the zero time of Go. */
function endAfter({ created, state }: StreamInfo, { times }: CountedPlace): CountedPlace {
  const storedAt = Math.max(0, Date.parse(state.last_ts)) || times?.storedAt || 0;
  return { sequence: state.last_seq, times: { createdAt: Date.parse(created), storedAt } };
}

async function usageOf(message: JsMsg, manager: JetStreamManager): Promise<RequestUsage> {
  const header = message.headers?.get(ENVELOPE_HEADER) ?? '';
  const sourceId = sourceOfEvents(message.subject);
  const envelope = readEnvelope(header);
  // Unreadable calls are not counted.
  if (!envelope.ok) return { sourceId, receivedAt: '', calls: 0 };
  const { receivedAt, calls, computed } = envelope.value;
  // Calls that Millrace made itself cost their workspace nothing.
  if (computed !== undefined) return { sourceId, receivedAt, calls: 0 };
  if (calls !== undefined) return { sourceId, receivedAt, calls };
  // Stored before envelopes had the number.
  const whole = await manager.streams.getMessage(message.info.stream, { seq: message.seq });
  return { sourceId, receivedAt, calls: whole === null ? 0 : countCalls(header, whole.data) };
}

function countCalls(header: string, body: Uint8Array): number {
  const read = readRequest(header, body);
  return read.ok ? read.value.events.length : 0;
}
