/** The size of an installation from its load: used by `millrace size` and by the page "Sizing" of the documentation. */
import {
  cpuUsOf,
  deadLetterBytesOf,
  type EventShape,
  laneBytesOf,
  MEMORY_BYTES,
  NATS_CONNECTIONS,
  OUTCOME_BYTES,
  POSTGRES_CONNECTIONS,
  recordedBytesOf,
  storedBytesOf,
} from './measured-costs.ts';

export type Workload = EventShape & {
  /** The mean of a day. */
  eventsPerSecond: number;
  /** The busiest minutes, as a multiple of the mean: processes are for these, disks for the mean. */
  peakFactor: number;
  retentionHours: number;
  recordDays: number;
  replicas: 1 | 3;
  /** From 0 to 1: deliveries whose receiver is down. */
  failingShare: number;
  /** For how long they are down. */
  outageHours: number;
  /** How long receivers take to answer. */
  answerMs: number;
};

export type Machine = { processes: number; cores: number; memoryBytes: number };
export type StoreKind = 'events' | 'lanes' | 'dead letters' | 'outcomes';
export type Sizing = {
  peak: { eventsPerSecond: number; requestsPerSecond: number; deliveriesPerSecond: number };
  /** `cores` and `memoryBytes` of each are for all its processes together. */
  collect: Machine;
  deliver: Machine;
  control: Machine;
  /** Of each server. */
  nats: Machine & { maxFileStoreBytes: number; diskBytes: number; decidedBy: StoreKind };
  postgres: Machine & { diskBytes: number };
  streams: { events: number; lanes: number };
  connections: { nats: number; postgres: number; receivers: number };
  settings: Record<`MILLRACE_${string}`, string>;
};

export const USUAL: Workload = {
  eventsPerSecond: 100,
  peakFactor: 3,
  eventBytes: 700,
  callsPerRequest: 20,
  destinationsPerEvent: 2,
  retentionHours: 72,
  recordDays: 7,
  replicas: 3,
  failingShare: 0.01,
  outageHours: 4,
  answerMs: 100,
};

const HOUR_S = 3_600;
const DAY_S = 24 * HOUR_S;
const US = 1_000_000;
const GB = 1_000_000_000;
/** A process plays on one core, and is not late while a third of it is free. */
const BUSY_CORE = 0.65;
/** Half of the slots of a deliver process, `MILLRACE_MAX_IN_FLIGHT`: the other half is for surprises. */
const IN_FLIGHT_PER_PROCESS = 500;
/** Requests a second that one stream syncs to its disk; an assumption for disks that sync in a millisecond. */
const REQUESTS_PER_STREAM = 500;
/** After this time a delivery is given up. */
const RETRY_HOURS = 4;
/** PostgreSQL may be away for this long without a gap in the record. */
const RECORD_OUTAGE_HOURS = 1;
/** Parts of max_file_store that the kinds of streams have, and how full they should be at most. */
const STORE: Readonly<Record<StoreKind, { share: number; fill: number }>> = {
  events: { share: 0.499, fill: 0.65 },
  lanes: { share: 0.16, fill: 0.8 },
  'dead letters': { share: 0.05, fill: 0.8 },
  outcomes: { share: 0.06, fill: 0.8 },
};
/** A fifth of the disk stays free beside max_file_store; PostgreSQL wants a third for its log, vacuum and bloat. */
const FREE_DISK = 0.2;
const FREE_DATABASE = 0.33;
/** Twice the memory that a process was seen to use: V8 takes what it may have before it collects. */
const MEMORY_FACTOR = 2;
/** Shared buffers and page cache that the newest part of the record and of the streams should fit into. */
const POSTGRES_CACHE_BYTES = 2 * GB;
const NATS_CACHE_BYTES = 1 * GB;

export function sizeInstallation(load: Workload): Sizing {
  const { eventsPerSecond, peakFactor, destinationsPerEvent, callsPerRequest, answerMs, replicas } = load;
  const peakEvents = eventsPerSecond * peakFactor;
  const peak = {
    eventsPerSecond: peakEvents,
    requestsPerSecond: peakEvents / callsPerRequest,
    deliveriesPerSecond: peakEvents * destinationsPerEvent,
  };
  const receivers = Math.ceil((peak.deliveriesPerSecond * answerMs) / 1_000);
  const collect = processesOf('collect', load);
  const deliver = processesOf('deliver', load, Math.ceil(receivers / IN_FLIGHT_PER_PROCESS));
  const control = processesOf('control', load);
  const eventStreams = Math.max(2, Math.ceil(peak.requestsPerSecond / REQUESTS_PER_STREAM));
  const natsConnections = NATS_CONNECTIONS.collect * collect.processes + NATS_CONNECTIONS.deliver * deliver.processes;
  return {
    peak,
    collect,
    deliver,
    control,
    nats: { ...natsServer(load), ...storeOf(load) },
    postgres: databaseOf(load),
    streams: { events: eventStreams, lanes: 2 },
    connections: {
      nats: natsConnections + NATS_CONNECTIONS.control * control.processes,
      postgres: POSTGRES_CONNECTIONS * control.processes,
      receivers,
    },
    settings: {
      MILLRACE_REPLICAS: String(replicas),
      MILLRACE_EVENT_STREAMS: String(eventStreams),
      MILLRACE_RETENTION: `${load.retentionHours}h`,
      MILLRACE_RECORD_RETENTION: `${load.recordDays}d`,
    },
  };
}

/** Three replicas are for installations that must not stop: those have each role twice. */
function processesOf(role: 'collect' | 'deliver' | 'control', load: Workload, least = 1): Machine {
  const cores = coresOf(role, load);
  const processes = Math.max(load.replicas === 3 ? 2 : 1, Math.ceil(cores / BUSY_CORE), least);
  return { processes, cores, memoryBytes: processes * MEMORY_BYTES[role] * MEMORY_FACTOR };
}

function coresOf(part: Parameters<typeof cpuUsOf>[0], load: Workload): number {
  return (load.eventsPerSecond * load.peakFactor * cpuUsOf(part, load)) / US;
}

/** Every server of three stores every message, so each has the work of one that is alone. */
function natsServer(load: Workload): Machine {
  const memoryBytes = MEMORY_BYTES.nats * MEMORY_FACTOR + NATS_CACHE_BYTES;
  return { processes: load.replicas, cores: coresOf('nats', load), memoryBytes };
}

/** The kind of stream that needs most for its share decides. */
function storeOf(load: Workload): Pick<Sizing['nats'], 'maxFileStoreBytes' | 'diskBytes' | 'decidedBy'> {
  const deliveriesPerSecond = load.eventsPerSecond * load.destinationsPerEvent;
  const failingPerSecond = deliveriesPerSecond * load.failingShare;
  const waitingS = Math.min(load.outageHours, RETRY_HOURS) * HOUR_S;
  const givenUpS = Math.max(0, load.outageHours - RETRY_HOURS) * HOUR_S;
  const bytes: Record<StoreKind, number> = {
    events: load.eventsPerSecond * load.retentionHours * HOUR_S * storedBytesOf(load),
    lanes: failingPerSecond * waitingS * laneBytesOf(load),
    'dead letters': failingPerSecond * givenUpS * deadLetterBytesOf(load),
    outcomes: deliveriesPerSecond * RECORD_OUTAGE_HOURS * HOUR_S * OUTCOME_BYTES,
  };
  const needs = (Object.keys(STORE) as StoreKind[]).map((kind) => ({
    kind,
    bytes: bytes[kind] / STORE[kind].share / STORE[kind].fill,
  }));
  const largest = needs.reduce((most, need) => (need.bytes > most.bytes ? need : most));
  const maxFileStoreBytes = Math.max(1, Math.ceil(largest.bytes / GB)) * GB;
  return { maxFileStoreBytes, diskBytes: maxFileStoreBytes / (1 - FREE_DISK), decidedBy: largest.kind };
}

function databaseOf(load: Workload): Sizing['postgres'] {
  const bytes = load.eventsPerSecond * load.recordDays * DAY_S * recordedBytesOf(load);
  const memoryBytes = MEMORY_BYTES.postgres * MEMORY_FACTOR + POSTGRES_CACHE_BYTES;
  const diskBytes = Math.max(1, Math.ceil(bytes / (1 - FREE_DATABASE) / GB)) * GB;
  return { processes: 1, cores: coresOf('postgres', load), memoryBytes, diskBytes };
}
