import type { Stored } from '../../domain/format.ts';
import type { StoredPlace } from '../../domain/delivery.ts';
import { readRequest, type RequestCalls } from '../../domain/read-request.ts';
import type { Logger } from '../../log.ts';
import type { Connection } from '../nats/connect-nats.ts';
import { DELIVER_CONSUMER, eventStreamName, sourceOfEvents, streamOfEvents } from '../layout/layout.ts';
import { pull, type PulledMessage } from '../nats/pull.ts';
import { ownHeaders, type Quarantine } from '../quarantine/quarantine.ts';
import { type Freshness, watchFreshness } from './watch-freshness.ts';
import { ENVELOPE_HEADER, TRACE_HEADER, withRefused } from './request-message.ts';
import { every } from '../../pause.ts';

/** An accepted request that this process works on until it acknowledges it. */
export type PulledRequest = {
  sourceId: string;
  stored: StoredPlace;
  /** The same for the log. */
  place: string;
  /** Its place and when NATS stored it: places come again in a stream that was recreated or restored. */
  key: string;
  bytes: number;
  /** How much later than usual it was taken up. */
  lateMs?: number;
  /** W3C `traceparent`; empty without tracing. */
  trace?: string;
  /** Its events, and the calls among them that cannot be read. */
  events(): Stored<RequestCalls>;
  /** All its deliveries are done or stored in lanes. */
  ack(): void;
  /** Extends the time for the acknowledgement: this process is still at work. */
  working(): void;
  /** Nothing was begun: NATS gives it to another process at once. */
  giveBack(): void;
  /** The configuration for it is on its way: it comes again in a moment. False when it was stored longer ago than that. */
  postpone?(mostMs: number): boolean;
  /** Only a newer process can read it: it comes again after a while. */
  leave(why: string): void;
  /** Keeps it in quarantine; without the calls at these places, if they are given, which are on their way. */
  setAside(why: string, healthy?: readonly number[]): ReturnType<Quarantine['append']>;
};

export type RequestsNeeds = {
  connection: Connection;
  /** How many event streams the settings ask for. */
  eventStreams: number;
  /** The names of all that exist. */
  streams(): Promise<string[]>;
  /** How many requests one of this many streams may send. */
  room(streams: number): number;
  taken(request: PulledRequest): void;
  /** By the engine's clock. */
  now(): number;
  quarantine: Quarantine;
  log: Logger;
};

/** After this time a request of a newer format comes again, to this process or another. */
const LEFT_FOR_MS = 5_000;
const POSTPONED_MS = 1_000;
/** How often streams are looked for that a process with another setting made, or deleted. */
const LIST_MS = 5_000;

/** Pulls from all event streams at once, also from those that only another process writes to. */
export function pullRequests({ eventStreams, streams, ...needs }: RequestsNeeds): AsyncDisposable {
  const pulls = new Map<string, AsyncDisposable>();
  const stopped: Promise<void>[] = [];
  const own = Array.from({ length: eventStreams }, (_, index) => eventStreamName(index));
  const pullAlso = (stream: string) => {
    const room = () => needs.room(Math.max(own.length, pulls.size));
    if (!pulls.has(stream)) pulls.set(stream, pullFrom(stream, { ...needs, room }));
  };
  let isListing = false;
  let isStopping = false;
  const follow = async () => {
    if (isListing) return;
    isListing = true;
    const listed = await streams().catch((error: unknown) => {
      needs.log.warn({ error: String(error) }, 'streams.not_listed');
      return undefined;
    });
    isListing = false;
    if (listed === undefined || isStopping) return;
    for (const stream of listed) pullAlso(stream);
    for (const [stream, pulling] of pulls) {
      if (own.includes(stream) || listed.includes(stream)) continue;
      pulls.delete(stream);
      stopped.push(Promise.resolve(pulling[Symbol.asyncDispose]()));
    }
  };
  const timer = every(LIST_MS, () => void follow());
  for (const stream of own) pullAlso(stream);
  void follow();
  return {
    async [Symbol.asyncDispose]() {
      timer[Symbol.dispose]();
      isStopping = true;
      await Promise.all([...pulls.values().map((each) => each[Symbol.asyncDispose]()), ...stopped]);
    },
  };
}

type PullFrom = Omit<RequestsNeeds, 'eventStreams' | 'streams' | 'room'> & { room(): number };

function pullFrom(stream: string, { connection, room, taken, now, quarantine, log }: PullFrom): AsyncDisposable {
  // One each: their leaders are on different servers, whose clocks differ.
  const from = { stream, freshness: watchFreshness(), now, quarantine };
  return pull({
    connection,
    stream,
    consumer: DELIVER_CONSUMER,
    room,
    log,
    taken: (message) => taken(pulledRequest(message, from)),
  });
}

type From = { stream: string; freshness: Freshness; now(): number; quarantine: Quarantine };

function pulledRequest(message: PulledMessage, { stream, freshness, now, quarantine }: From): PulledRequest {
  const { subject } = message;
  const place = `${stream}/${message.seq}`;
  const envelope = message.headers?.get(ENVELOPE_HEADER) ?? '';
  return {
    sourceId: sourceOfEvents(subject),
    stored: { stream: streamOfEvents(subject), sequence: message.seq },
    place,
    key: `${place}@${message.timestampNanos}`,
    bytes: message.data.length,
    // For a redelivered request the lag would include the time that another process had it.
    lateMs: message.redelivered ? 0 : freshness(Number(message.timestampNanos) / 1e6, performance.now()),
    trace: message.headers?.get(TRACE_HEADER) ?? '',
    events: () => readRequest(envelope, message.data),
    ack: () => message.ack(),
    working: () => message.working(),
    giveBack: () => message.nak(),
    postpone(mostMs) {
      const isOld = now() - Number(message.timestampNanos) / 1e6 > mostMs;
      if (!isOld) message.nak(POSTPONED_MS);
      return !isOld;
    },
    leave(why) {
      quarantine.left('request', why);
      message.nak(LEFT_FOR_MS);
    },
    setAside(why, healthy = []) {
      const headers = ownHeaders(message.headers).map(([name, value]): [string, string] =>
        name === ENVELOPE_HEADER ? [name, withRefused(value, healthy)] : [name, value],
      );
      const from = { stream, subject, sequence: message.seq };
      return quarantine.append({ kind: 'request', payload: message.data, from, why, headers });
    },
  };
}
