import type { AcceptedEvent } from '@millrace/contract';
import type { JsMsg } from '@nats-io/jetstream';
import type { Logger } from '../log.ts';
import type { Connection } from './connect-nats.ts';
import { DELIVER_CONSUMER, eventStreamName } from './layout.ts';
import { pull } from './pull.ts';
import { type Freshness, watchFreshness } from './watch-freshness.ts';
import { decodeRequest, ENVELOPE_HEADER, TRACE_HEADER } from './request-message.ts';

/** An accepted request that this process has to see through. */
export type PulledRequest = {
  sourceId: string;
  /** Where it is stored, for the log. */
  place: string;
  /** Its place and when the engine stored it: places come again in a stream that was made anew or brought back from a backup. */
  key: string;
  bytes: number;
  /** How much later than usual it was taken up. */
  lateMs?: number;
  /** W3C `traceparent`; empty when nobody follows it. */
  trace?: string;
  /** Its events; throws if they cannot be read. */
  events(): AcceptedEvent[];
  /** Everything that follows from it is done or stored somewhere else. */
  ack(): void;
  /** Not yet, but we are at it: nobody else should begin. */
  working(): void;
  /** Nothing was begun: somebody else may. */
  giveBack(): void;
};

export type RequestsNeeds = {
  connection: Connection;
  eventStreams: number;
  /** How many requests one of this many streams may send. */
  room(streams: number): number;
  taken(request: PulledRequest): void;
  log: Logger;
};

/** Pulls from all event streams at once. */
export function pullRequests({ connection, eventStreams, room, taken, log }: RequestsNeeds): AsyncDisposable {
  const streams = Array.from({ length: eventStreams }, (_, index) => eventStreamName(index));
  const pulls = streams.map((stream) => {
    const pulling = { connection, stream, consumer: DELIVER_CONSUMER, room: () => room(eventStreams), log };
    // One each: their leaders are on different servers, whose clocks differ.
    const freshness = watchFreshness();
    return pull({ ...pulling, taken: (message) => taken(pulledRequest(stream, message, freshness)) });
  });
  return {
    async [Symbol.asyncDispose]() {
      await Promise.all(pulls.map((each) => each[Symbol.asyncDispose]()));
    },
  };
}

function pulledRequest(stream: string, message: JsMsg, freshness: Freshness): PulledRequest {
  const { subject } = message;
  const place = `${stream}/${message.seq}`;
  return {
    sourceId: subject.slice(subject.lastIndexOf('.') + 1),
    place,
    key: `${place}@${message.info.timestampNanos}`,
    bytes: message.data.length,
    // Of one that somebody had before, it would tell how long they had it.
    lateMs: message.redelivered ? 0 : freshness(message.info.timestampNanos / 1e6, performance.now()),
    trace: message.headers?.get(TRACE_HEADER) ?? '',
    events: () => decodeRequest(message.headers?.get(ENVELOPE_HEADER) ?? '', message.data),
    ack: () => message.ack(),
    working: () => message.working(),
    giveBack: () => message.nak(),
  };
}
