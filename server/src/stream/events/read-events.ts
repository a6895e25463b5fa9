import type { AcceptedEvent } from '@millrace/contract';
import { jetstream, jetstreamManager, JetStreamApiCodes, JetStreamApiError, DeliverPolicy } from '@nats-io/jetstream';
import type { MsgHdrs } from '@nats-io/nats-core';
import type { Connection } from '../nats/connect-nats.ts';
import { eventStreamName, sourceOfEvents } from '../layout/layout.ts';
import { countEventStreams } from '../nats/list-streams.ts';
import { ENVELOPE_HEADER, readableEvents } from './request-message.ts';

export type StoredRequest = {
  stream: string;
  sequence: number;
  /** By the clock of the server that leads the stream. */
  storedAt: number;
  sourceId: string;
  events: AcceptedEvent[];
};

const READ_AHEAD = 64;

/**
 * Everything stored in the event streams now, in order: in those of the settings, and in others that exist.
 * Asks the leader for the last sequence and for each message: a replica may lag, and its silence proves nothing.
 */
export async function* readEvents({ nc }: Connection, streamCount: number): AsyncGenerator<StoredRequest> {
  const manager = await jetstreamManager(nc, { timeout: 20_000 });
  const count = await countEventStreams(manager, streamCount);
  for (let index = 0; index < count; index += 1) {
    const stream = eventStreamName(index);
    const { state } = await manager.streams.info(stream);
    for (let first = Math.max(1, state.first_seq); first <= state.last_seq; first += READ_AHEAD) {
      const sequences = range(first, Math.min(first + READ_AHEAD - 1, state.last_seq));
      for (const found of await Promise.all(sequences.map((sequence) => readOne(stream, sequence)))) {
        if (found !== undefined) yield found;
      }
    }
  }

  async function readOne(stream: string, sequence: number): Promise<StoredRequest | undefined> {
    try {
      const message = await manager.streams.getMessage(stream, { seq: sequence });
      return message === null ? undefined : storedRequest(stream, message, message.header);
    } catch (error) {
      // Expired or purged: gaps are normal.
      if (error instanceof JetStreamApiError && error.code === JetStreamApiCodes.NoMessageFound) return undefined;
      throw error;
    }
  }
}

/** Calls `seen` with each request stored from now on. For display only: a gap after a lost connection is fine. */
export async function followEvents(
  { nc }: Connection,
  streamCount: number,
  seen: (request: StoredRequest) => void,
): Promise<AsyncDisposable> {
  const stack = new AsyncDisposableStack();
  for (let index = 0; index < streamCount; index += 1) {
    const stream = eventStreamName(index);
    const consumer = await jetstream(nc).consumers.get(stream, { deliver_policy: DeliverPolicy.New });
    const messages = await consumer.consume({
      callback: (message) => seen(storedRequest(stream, message, message.headers)),
    });
    stack.defer(async () => {
      await messages.close();
    });
  }
  return stack;
}

type StoredMessage = { seq: number; time: Date; subject: string; data: Uint8Array };

function storedRequest(stream: string, message: StoredMessage, headers: MsgHdrs | undefined): StoredRequest {
  const sourceId = sourceOfEvents(message.subject);
  const events = readableEvents(headers?.get(ENVELOPE_HEADER) ?? '', message.data);
  return { stream, sequence: message.seq, storedAt: message.time.getTime(), sourceId, events };
}

function range(first: number, last: number): number[] {
  return Array.from({ length: last - first + 1 }, (_, offset) => first + offset);
}
