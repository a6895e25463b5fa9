/**
 * The cost of an event: bytes, CPU time and memory, from the table of figures. `npm run bench -- sizing`, `-- scale` and
 * `-- scale-check` fail when an answer is more than 30 % off.
 */
import { figure } from './figures.ts';

/** A part of an installation that needs CPU and memory of its own. */
export type Part = 'collect' | 'deliver' | 'control' | 'nats' | 'postgres';

export type EventShape = {
  /** Mean size of a call as JSON. */
  eventBytes: number;
  /** Calls in one request: 20 for libraries of servers, 1 for a browser that leaves the page. */
  callsPerRequest: number;
  destinationsPerEvent: number;
  /** From 0 to 1: deliveries whose receiver is down. */
  failingShare?: number;
  /** All destinations that a deliver process may meet; one unless given. */
  destinationsConfigured?: number;
  /** From 0 to 1, MILLRACE_RECORD_ROWS: deliveries that have a row although they succeeded at once; all unless given. */
  rowsKept?: number;
  /** Events in one POST; one unless given. */
  eventsPerPost?: number;
  /** Receivers that are asked over TLS; the measurements are without. */
  hasTls?: boolean;
};

type Cost = Record<'request' | 'call' | 'callKb' | 'delivery' | 'inBatch' | 'deliveryKb' | 'failing', number>;

const NOTHING: Cost = { request: 0, call: 0, callKb: 0, delivery: 0, inBatch: 0, deliveryKb: 0, failing: 0 };
/** CPU in microseconds: for a request, a call, a kilobyte of it, a delivery, one more in its POST, a kilobyte of that, a delivery that fails. */
const CPU_US: Readonly<Record<Part, Cost>> = {
  collect: {
    ...NOTHING,
    request: figure('cpu.collect.request'),
    call: figure('cpu.collect.call'),
    callKb: figure('cpu.collect.kilobyte'),
  },
  deliver: {
    ...NOTHING,
    request: figure('cpu.deliver.request'),
    delivery: figure('cpu.deliver.delivery'),
    inBatch: figure('cpu.deliver.in-batch'),
    deliveryKb: figure('cpu.deliver.kilobyte'),
    failing: figure('cpu.deliver.failing'),
  },
  control: {
    ...NOTHING,
    request: figure('cpu.control.request'),
    delivery: figure('cpu.control.delivery'),
    inBatch: figure('cpu.control.in-batch'),
    failing: figure('cpu.control.failing'),
  },
  nats: {
    ...NOTHING,
    request: figure('cpu.nats.request'),
    callKb: figure('cpu.nats.kilobyte'),
    delivery: figure('cpu.nats.delivery'),
    inBatch: figure('cpu.nats.in-batch'),
    failing: figure('cpu.nats.failing'),
  },
  postgres: {
    ...NOTHING,
    request: figure('cpu.postgres.request'),
    delivery: figure('cpu.postgres.delivery'),
    inBatch: figure('cpu.postgres.in-batch'),
    failing: figure('cpu.postgres.failing'),
  },
};

const KB = 1_000;
/** An outcome in its stream until the recorder has written it. Several streams take a third of it, which is not counted on. */
export const OUTCOME_BYTES = figure('bytes.outcome');
/** The measurement of many destinations has this many. */
const MANY_DESTINATIONS = 1_000;

/** Anonymous memory of a process under load. NATS and PostgreSQL need the page cache beside it. */
export const MEMORY_BYTES: Readonly<Record<Part, number>> = {
  collect: figure('memory.collect'),
  deliver: figure('memory.deliver'),
  control: figure('memory.control'),
  nats: figure('memory.nats'),
  postgres: figure('memory.postgres'),
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
export function cpuUsOf(part: Part, shape: EventShape): number {
  const { eventBytes, callsPerRequest, destinationsPerEvent, failingShare = 0 } = shape;
  const { request, call, callKb, deliveryKb, failing } = CPU_US[part];
  const kb = eventBytes / KB;
  const plain = deliveryUs(part, shape);
  const one = part === 'deliver' ? sendingUs(plain, shape) : part === 'postgres' ? rowUs(plain, shape) : plain;
  return (
    request / callsPerRequest +
    call +
    callKb * kb +
    destinationsPerEvent * (one + deliveryKb * kb + failing * failingShare)
  );
}

/** Connections, signatures and answers are for a POST; reading the event and its outcome are for each event in it. */
function deliveryUs(part: Part, { eventsPerPost = 1 }: EventShape): number {
  const { delivery, inBatch } = CPU_US[part];
  return inBatch + (delivery - inBatch) / eventsPerPost;
}

function rowUs(withRow: number, shape: EventShape): number {
  return perRow(shape, withRow, figure('cpu.postgres.plain'));
}

function sendingUs(
  plain: number,
  { destinationsConfigured = 1, eventsPerPost = 1, hasTls = false }: EventShape,
): number {
  const tls = hasTls ? figure('cpu.deliver.tls') : 0;
  // The measurement of many destinations has no parts: both grow with their number.
  return plain * spreadFactor(destinationsConfigured) + (tls + openingUs(destinationsConfigured)) / eventsPerPost;
}

/** A delivery costs more where many destinations take turns; between one and a thousand by the number of digits. */
function spreadFactor(destinations: number): number {
  const most = figure('deliver.many-destinations') / figure('deliver.one-destination');
  const digits = Math.log10(Math.max(1, destinations)) / Math.log10(MANY_DESTINATIONS);
  return 1 + (most - 1) * Math.min(1, digits);
}

/** Destinations beyond the cache are opened again for their next delivery. */
function openingUs(destinations: number): number {
  const cached = Math.min(1, figure('deliver.cached-destinations') / Math.max(1, destinations));
  return figure('cpu.deliver.open') * (1 - cached);
}

/** Bytes in the event streams. */
export function storedBytesOf({ eventBytes, callsPerRequest }: EventShape): number {
  return eventBytes + figure('bytes.request') / callsPerRequest;
}

/** Bytes of one delivery that waits in its lane. */
export function laneBytesOf({ eventBytes }: EventShape): number {
  return eventBytes + figure('bytes.lane');
}

export function deadLetterBytesOf({ eventBytes }: EventShape): number {
  return eventBytes + figure('bytes.dead-letter');
}

/** Bytes of a POST to a receiver with all its events, each about as long as its call was. */
export function postBytesOf({ eventBytes, eventsPerPost = 1 }: EventShape, isSigned: boolean): number {
  const head = figure('bytes.post') + (isSigned ? figure('bytes.signatures') : 0);
  return head + eventsPerPost * (eventBytes + figure('bytes.in-post'));
}

/** Bytes of an event's deliveries in PostgreSQL. */
export function recordedBytesOf(shape: EventShape): number {
  return shape.destinationsPerEvent * perRow(shape, figure('bytes.row'), figure('bytes.plain-row'));
}

/** The mean over deliveries with a row and without: every delivery that failed once has one. */
function perRow({ failingShare = 0, rowsKept = 1 }: EventShape, withRow: number, without: number): number {
  const rows = failingShare + (1 - failingShare) * rowsKept;
  return rows * withRow + (1 - rows) * without;
}
