/** A load as `npm run scale` is asked about it, and a part of it as the sizing of one installation understands it. */
import { figure } from '../sizing/figures.ts';
import type { Workload } from '../sizing/size-installation.ts';

export type ScaleLoad = {
  /** In the busiest minutes. */
  eventsPerSecond: number;
  /** The busiest minutes as a multiple of the mean: processes are for the peak, disks and traffic for the mean. */
  peakFactor: number;
  eventBytes: number;
  callsPerRequest: number;
  /** All destinations that are configured, over all cells. */
  destinations: number;
  /** Deliveries of one event. */
  destinationsPerEvent: number;
  eventsPerPost: number;
  /** From 0 to 1: deliveries whose receiver is down. */
  failingShare: number;
  retentionHours: number;
  recordDays: number;
  /** MILLRACE_RECORD_ROWS. */
  rowsKept: number;
  answerMs: number;
  hasTls: boolean;
  replicas: 1 | 3;
  /** The largest disk that a server can have. */
  diskBytes: number;
  /** NATS servers of a cell at most. Three store everything three times; each three more hold other streams. */
  serversPerCell: number;
  /** Processes of one role on one machine: MILLRACE_PROCESSES. */
  coresPerMachine: number;
};

export const USUAL_LOAD: ScaleLoad = {
  eventsPerSecond: 1_000,
  peakFactor: 1,
  eventBytes: 700,
  callsPerRequest: 20,
  destinations: 1_000,
  destinationsPerEvent: 1,
  eventsPerPost: 1,
  failingShare: 0.02,
  retentionHours: 72,
  recordDays: 7,
  rowsKept: 1,
  answerMs: 100,
  hasTls: true,
  replicas: 3,
  diskBytes: 16e12,
  serversPerCell: figure('cell.servers'),
  coresPerMachine: 8,
};

/** Receivers that are down stay down for the whole time that a delivery is retried: lanes have to hold all of it. */
const OUTAGE_HOURS = 4;

/** The load of one cell, or of one installation: they share events and destinations evenly. */
export function partOf(load: ScaleLoad, among: number): Workload {
  const {
    eventsPerSecond,
    destinations,
    diskBytes: _disk,
    coresPerMachine: _cores,
    serversPerCell: _servers,
    ...shape
  } = load;
  return {
    ...shape,
    eventsPerSecond: eventsPerSecond / load.peakFactor / among,
    destinationsConfigured: destinations / among,
    outageHours: OUTAGE_HOURS,
  };
}

/** The copies of all streams that fit into a cell beside each other, a set of servers for each. */
export function serverSets({ serversPerCell }: ScaleLoad): number {
  return Math.max(1, Math.floor(serversPerCell / 3));
}
