/**
 * The cost of an event, as `npm run bench -- sizing` measures it: bytes and CPU time on two shared cores, one NATS server, PostgreSQL 15.
 * docs/measurements has the figures of the last run; the bench fails when an answer is more than 30 % off.
 */

/** A part of an installation that needs CPU and memory of its own. */
export type Part = 'collect' | 'deliver' | 'control' | 'nats' | 'postgres';

export type EventShape = {
  /** Mean size of a call as JSON. */
  eventBytes: number;
  /** Calls in one request: 20 for libraries of servers, 1 for a browser that leaves the page. */
  callsPerRequest: number;
  destinationsPerEvent: number;
};

/** CPU in microseconds: for a request, for a call, for a kilobyte of it, for a delivery, for a kilobyte of that. */
const CPU_US: Readonly<
  Record<Part, { request: number; call: number; callKb: number; delivery: number; deliveryKb: number }>
> = {
  collect: { request: 210, call: 16, callKb: 1, delivery: 0, deliveryKb: 0 },
  deliver: { request: 185, call: 0, callKb: 0, delivery: 84, deliveryKb: 2 },
  control: { request: 28, call: 0, callKb: 0, delivery: 52, deliveryKb: 0 },
  nats: { request: 230, call: 0, callKb: 16, delivery: 13, deliveryKb: 0 },
  postgres: { request: 35, call: 0, callKb: 0, delivery: 98, deliveryKb: 0 },
};

const KB = 1_000;
/** The envelope of a stored request, and what NATS adds to each message. */
const REQUEST_BYTES = 300;
/** A waiting delivery beside its event. */
const LANE_BYTES = 200;
const DEAD_LETTER_BYTES = 600;
/** Deliveries, attempts and counters in PostgreSQL, with their indexes. */
const RECORDED_BYTES = 1_200;
/** In the stream until the recorder has written it. */
export const OUTCOME_BYTES = 600;

/** Anonymous memory of a process under load. NATS and PostgreSQL need the page cache beside it. */
export const MEMORY_BYTES: Readonly<Record<Part, number>> = {
  collect: 185_000_000,
  deliver: 400_000_000,
  control: 390_000_000,
  nats: 300_000_000,
  postgres: 70_000_000,
};

/** Connections of one process to NATS. */
export const NATS_CONNECTIONS: Readonly<Record<'collect' | 'deliver' | 'control', number>> = {
  collect: 2,
  deliver: 4,
  control: 4,
};
/** The most that the pool of a control process opens. */
export const POSTGRES_CONNECTIONS = 10;

/** CPU time that each part spends on one event with all its deliveries. */
export function cpuUsOf(part: Part, { eventBytes, callsPerRequest, destinationsPerEvent }: EventShape): number {
  const { request, call, callKb, delivery, deliveryKb } = CPU_US[part];
  const kb = eventBytes / KB;
  return request / callsPerRequest + call + callKb * kb + destinationsPerEvent * (delivery + deliveryKb * kb);
}

/** Bytes in the event streams. */
export function storedBytesOf({ eventBytes, callsPerRequest }: EventShape): number {
  return eventBytes + REQUEST_BYTES / callsPerRequest;
}

/** Bytes of one delivery that waits in its lane. */
export function laneBytesOf({ eventBytes }: EventShape): number {
  return eventBytes + LANE_BYTES;
}

export function deadLetterBytesOf({ eventBytes }: EventShape): number {
  return eventBytes + DEAD_LETTER_BYTES;
}

/** Bytes of an event's deliveries in PostgreSQL. */
export function recordedBytesOf({ destinationsPerEvent }: EventShape): number {
  return destinationsPerEvent * RECORDED_BYTES;
}
