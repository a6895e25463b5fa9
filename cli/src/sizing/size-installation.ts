/** The size of an installation from its load: used by `millrace size` and by the page "Sizing" of the documentation. */
import { figure } from './figures.ts';
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
  streams: { events: number; lanes: number; outcomes: number };
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
const DAY_HOURS = 24;
const DAY_S = DAY_HOURS * HOUR_S;
const US = 1_000_000;
const GB = 1_000_000_000;
/** A process plays on one core, and is not late while a third of it is free. */
const BUSY_CORE = figure('plan.busy-core');
/** Parts of max_file_store that the kinds of streams have, and how full they should be at most. */
const STORE: Readonly<Record<StoreKind, { share: number; fill: number }>> = {
  events: { share: figure('store.events'), fill: figure('plan.full-events') },
  lanes: { share: figure('store.lanes'), fill: figure('plan.full-others') },
  'dead letters': { share: figure('store.dead-letters'), fill: figure('plan.full-others') },
  outcomes: { share: figure('store.outcomes'), fill: figure('plan.full-others') },
};
const LANE_STREAMS = 2;

export function sizeInstallation(load: Workload): Sizing {
  const { eventsPerSecond, peakFactor, destinationsPerEvent, callsPerRequest, answerMs, replicas } = load;
  const { eventsPerPost = 1 } = load;
  const peakEvents = eventsPerSecond * peakFactor;
  const peak = {
    eventsPerSecond: peakEvents,
    requestsPerSecond: peakEvents / callsPerRequest,
    deliveriesPerSecond: peakEvents * destinationsPerEvent,
  };
  const receivers = Math.ceil((peak.deliveriesPerSecond * answerMs) / 1_000 / eventsPerPost);
  const collect = processesOf('collect', load);
  const busySlots = figure('deliver.slots') * figure('plan.busy-slots');
  const deliver = processesOf('deliver', load, Math.ceil(receivers / busySlots));
  const control = processesOf('control', load);
  const streams = streamsOf(peak);
  const natsConnections = NATS_CONNECTIONS.collect * collect.processes + NATS_CONNECTIONS.deliver * deliver.processes;
  return {
    peak,
    collect,
    deliver,
    control,
    nats: { ...natsServer(load), ...storeOf(load) },
    postgres: databaseOf(load),
    streams,
    connections: {
      nats: natsConnections + NATS_CONNECTIONS.control * control.processes,
      postgres: POSTGRES_CONNECTIONS * control.processes,
      receivers,
    },
    settings: {
      MILLRACE_REPLICAS: String(replicas),
      MILLRACE_EVENT_STREAMS: String(streams.events),
      MILLRACE_RETENTION: timeText(load.retentionHours),
      MILLRACE_RECORD_RETENTION: timeText(load.recordDays * DAY_HOURS),
      MILLRACE_OUTCOME_STREAMS: String(streams.outcomes),
    },
  };
}

/** In a unit that makes it a whole number: the server takes no other. */
function timeText(hours: number): string {
  if (hours > 72 && Number.isInteger(hours / DAY_HOURS)) return `${hours / DAY_HOURS}d`;
  return Number.isInteger(hours) ? `${hours}h` : `${Math.max(1, Math.round(hours * 60))}m`;
}

/** As many as the load asks for, even where the server refuses the number: then one installation is not enough. */
function streamsOf({ requestsPerSecond, deliveriesPerSecond }: Sizing['peak']): Sizing['streams'] {
  return {
    events: Math.max(2, Math.ceil(requestsPerSecond / figure('stream.requests'))),
    lanes: LANE_STREAMS,
    outcomes: Math.max(1, Math.ceil(deliveriesPerSecond / (figure('record.per-second') * BUSY_CORE))),
  };
}

/** Three replicas are for installations that must not stop: those have each role twice. */
function processesOf(role: 'collect' | 'deliver' | 'control', load: Workload, least = 1): Machine {
  const cores = coresOf(role, load);
  const processes = Math.max(load.replicas === 3 ? 2 : 1, Math.ceil(cores / BUSY_CORE), least);
  const bytes = MEMORY_BYTES[role] * figure('plan.memory') + (role === 'deliver' ? configBytes(load) : 0);
  return { processes, cores, memoryBytes: processes * bytes };
}

/** Each deliver process holds every destination. */
function configBytes({ destinationsConfigured = 0 }: Workload): number {
  return destinationsConfigured * figure('bytes.destination');
}

function coresOf(part: Parameters<typeof cpuUsOf>[0], load: Workload): number {
  return (load.eventsPerSecond * load.peakFactor * cpuUsOf(part, load)) / US;
}

/** Every server of three stores every message, so each has the work of one that is alone. */
function natsServer(load: Workload): Machine {
  const memoryBytes = MEMORY_BYTES.nats * figure('plan.memory') + figure('plan.nats-cache');
  return { processes: load.replicas, cores: coresOf('nats', load), memoryBytes };
}

type Store = Pick<Sizing['nats'], 'maxFileStoreBytes' | 'diskBytes' | 'decidedBy'>;

/** The kind of stream that needs most for its share decides. */
function storeOf(load: Workload): Store {
  const deliveriesPerSecond = load.eventsPerSecond * load.destinationsPerEvent;
  const failingPerSecond = deliveriesPerSecond * load.failingShare;
  const waitingS = Math.min(load.outageHours, figure('retry.hours')) * HOUR_S;
  const givenUpS = Math.max(0, load.outageHours - figure('retry.hours')) * HOUR_S;
  const bytes: Record<StoreKind, number> = {
    events: load.eventsPerSecond * load.retentionHours * HOUR_S * storedBytesOf(load),
    lanes: failingPerSecond * waitingS * laneBytesOf(load),
    'dead letters': failingPerSecond * givenUpS * deadLetterBytesOf(load),
    outcomes: deliveriesPerSecond * figure('plan.record-outage') * HOUR_S * OUTCOME_BYTES,
  };
  const needs = (Object.keys(STORE) as StoreKind[]).map((kind) => ({
    kind,
    bytes: bytes[kind] / STORE[kind].share / STORE[kind].fill,
  }));
  const largest = needs.reduce((most, need) => (need.bytes > most.bytes ? need : most));
  const maxFileStoreBytes = Math.max(1, Math.ceil(largest.bytes / GB)) * GB;
  return { maxFileStoreBytes, diskBytes: maxFileStoreBytes / (1 - figure('plan.free-disk')), decidedBy: largest.kind };
}

function databaseOf(load: Workload): Sizing['postgres'] {
  const bytes = load.eventsPerSecond * load.recordDays * DAY_S * recordedBytesOf(load);
  const memoryBytes = MEMORY_BYTES.postgres * figure('plan.memory') + figure('plan.postgres-cache');
  const diskBytes = Math.max(1, Math.ceil(bytes / (1 - figure('plan.free-database')) / GB)) * GB;
  return { processes: 1, cores: coresOf('postgres', load), memoryBytes, diskBytes };
}
