import { DeliverPolicy, jetstream, jetstreamManager, type JetStreamManager, type JsMsg } from '@nats-io/jetstream';
import type { Connection } from '../nats/connect-nats.ts';
import { readEnvelope, readRequest } from '../../domain/read-request.ts';
import { sourceOfEvents } from '../layout/layout.ts';
import { ENVELOPE_HEADER } from './request-message.ts';

/** How many calls one accepted request held. */
export type RequestUsage = { sourceId: string; receivedAt: string; calls: number };
/** `through`: everything up to there has been read, or is gone; smaller than asked when the stream was recreated. */
export type UsageRead = { requests: RequestUsage[]; through: number };

export type UsageReader = {
  stream: string;
  /** Of the last request in the stream. */
  lastSequence(): Promise<number>;
  /** The requests stored after this sequence, at most USAGE_AT_ONCE of them. */
  readAfter(sequence: number): Promise<UsageRead>;
};

/** Requests read at a time. */
export const USAGE_AT_ONCE = 5_000;
const EXPIRES_MS = 2_000;

/** Reads an event stream for its counts alone: the headers have them, and the bodies stay where they are. */
export function readUsage(connection: Connection, stream: string): UsageReader {
  return {
    stream,
    lastSequence: () => lastSequence(connection, stream),
    readAfter: (sequence) => readAfter(connection, stream, sequence),
  };
}

async function lastSequence({ nc }: Connection, stream: string): Promise<number> {
  const manager = await jetstreamManager(nc, { checkAPI: false, timeout: 5_000 });
  return (await manager.streams.info(stream)).state.last_seq;
}

async function readAfter({ nc }: Connection, stream: string, sequence: number): Promise<UsageRead> {
  const manager = await jetstreamManager(nc, { checkAPI: false, timeout: 5_000 });
  const { state } = await manager.streams.info(stream);
  const isReset = state.last_seq < sequence;
  const from = Math.max(isReset ? 1 : sequence + 1, state.first_seq);
  if (from > state.last_seq) return { requests: [], through: state.last_seq };
  const consumer = await jetstream(nc).consumers.get(stream, {
    deliver_policy: DeliverPolicy.StartSequence,
    opt_start_seq: from,
    headers_only: true,
  });
  const most = Math.min(USAGE_AT_ONCE, state.last_seq - from + 1);
  const requests: RequestUsage[] = [];
  let through = from - 1;
  for await (const message of await consumer.fetch({ max_messages: most, expires: EXPIRES_MS })) {
    requests.push(await usageOf(message, manager));
    through = message.seq;
    if (through >= state.last_seq) break;
  }
  await consumer.delete();
  return { requests, through };
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
