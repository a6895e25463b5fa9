import type { FaultName } from '../catalog.ts';
import type { Victim } from './fault-entry.ts';

export const GRID_VICTIMS = [
  'collect',
  'deliver',
  'control',
  'compute',
  'NATS',
  'PostgreSQL',
] as const satisfies Victim[];

export type GridVictim = (typeof GRID_VICTIMS)[number];

/** The faults that do this to that process, or why none does. */
export type GridCell = readonly FaultName[] | string;

const NO_DISK = 'keeps nothing on disk';
const NOT_DONE = 'not injected';
const AS_KILLED = 'not injected: it ends as if killed';

/** Each kind of trouble of a process, against every process: gaps are named, so that a reader sees them. */
export const GRID = {
  'is killed': {
    collect: ['collect-kill'],
    deliver: ['deliver-kill', 'deliver-burst-kill', 'deliver-both-kill'],
    control: ['recorder-stopped', 'one-recorder-kill'],
    compute: ['compute-kill'],
    NATS: ['leader-kill', 'all-nodes-kill', 'deliver-leader-kill', 'outcomes-leader-kill', 'cell-lost'],
    PostgreSQL: ['database-stopped', 'database-restarted', 'compute-kill'],
  },
  'is asked to leave': {
    collect: ['sigterm', 'rolling-upgrade'],
    deliver: ['deliver-sigterm', 'rolling-upgrade'],
    control: ['rolling-upgrade'],
    compute: NOT_DONE,
    NATS: ['nats-stopped'],
    PostgreSQL: AS_KILLED,
  },
  'stands still, and goes on': {
    collect: ['asleep'],
    deliver: ['asleep'],
    control: ['recorder-asleep'],
    compute: ['compute-kill'],
    NATS: ['nats-stopped', 'cut-off-server'],
    PostgreSQL: ['database-trouble'],
  },
  'is cut off from others': {
    collect: ['partitions'],
    deliver: ['partitions'],
    control: ['partitions'],
    compute: NOT_DONE,
    NATS: ['partitions'],
    PostgreSQL: ['partitions'],
  },
  'loses its power': {
    collect: NO_DISK,
    deliver: NO_DISK,
    control: NO_DISK,
    compute: NO_DISK,
    NATS: ['power-cut'],
    PostgreSQL: ['power-cut'],
  },
  'has a full disk': {
    collect: NO_DISK,
    deliver: NO_DISK,
    control: NO_DISK,
    compute: NO_DISK,
    NATS: ['nats-disk-full'],
    PostgreSQL: ['compute-kill'],
  },
  'gets no more memory': {
    collect: ['memory-limit'],
    deliver: ['memory-limit'],
    control: AS_KILLED,
    compute: AS_KILLED,
    NATS: AS_KILLED,
    PostgreSQL: NOT_DONE,
  },
  'has no file descriptors left': {
    collect: ['few-descriptors'],
    deliver: ['few-descriptors'],
    control: NOT_DONE,
    compute: NOT_DONE,
    NATS: NOT_DONE,
    PostgreSQL: NOT_DONE,
  },
  'has a wrong clock': {
    collect: ['clock-skew'],
    deliver: ['clock-skew'],
    control: NOT_DONE,
    compute: NOT_DONE,
    NATS: NOT_DONE,
    PostgreSQL: NOT_DONE,
  },
  'is of another version': {
    collect: ['mixed-versions', 'rolling-upgrade'],
    deliver: ['mixed-versions', 'rolling-upgrade'],
    control: ['rolling-upgrade'],
    compute: NOT_DONE,
    NATS: NOT_DONE,
    PostgreSQL: NOT_DONE,
  },
} as const satisfies Record<string, Record<GridVictim, GridCell>>;
