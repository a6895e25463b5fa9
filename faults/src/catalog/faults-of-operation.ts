import { churnConfig } from '../inject/churn-config.ts';
import { cutPower } from '../inject/cut-power.ts';
import { killCompute } from '../inject/kill-compute.ts';
import { loseCell } from '../inject/lose-cell.ts';
import { mixVersions } from '../inject/mix-versions.ts';
import { moveCell } from '../inject/move-cell.ts';
import { partition } from '../inject/partition.ts';
import { starveCompute } from '../inject/starve-compute.ts';
import { drillRestore } from '../operate/restore-drill.ts';
import { rollVersions } from '../operate/roll-versions.ts';
import { DELIVERED, type FaultEntries, RECORDED, STORED } from './fault-entry.ts';

/** The work of operators, cells, and audiences. */
export const FAULTS_OF_OPERATION = {
  'mixed-versions': {
    run: mixVersions,
    promise:
      'an upgrade from the version before, process by process, and the way back lose nothing and leave nothing stuck',
    injects: 'each process changes to this version and back, one after the other',
    against: ['collect', 'deliver'],
    invariants: DELIVERED,
    covers: ['versions-mixed', 'restart-rolling'],
    isTimeless: true,
  },
  'rolling-upgrade': {
    run: rollVersions,
    promise:
      'every role goes from the last release to this version and back, under load and with backlogs, and nothing is lost',
    injects: 'every role goes from the last release to this version and back, with backlogs',
    against: ['collect', 'deliver', 'control'],
    invariants: DELIVERED,
    covers: ['versions-mixed', 'restart-rolling'],
    isTimeless: true,
  },
  'restore-drill': {
    run: drillRestore,
    promise:
      'after the loss of all engines a backup brings back everything that was acknowledged before its point, and delivers it',
    injects: 'a backup under load; then all processes and engines die, and their folders are removed',
    against: ['collect', 'deliver', 'control', 'NATS', 'PostgreSQL'],
    invariants: ['kept', 'own', 'bytes', 'no ghosts'],
    covers: ['backup-restored'],
    isTimeless: true,
  },
  'compute-kill': {
    run: killCompute,
    promise:
      'audiences are those of an uninterrupted run, and the webhook knows them, whatever dies: compute, PostgreSQL, its disk, a leader',
    injects: 'SIGKILL and SIGSTOP of compute; PostgreSQL dies and has no room; a leader dies',
    against: ['compute', 'PostgreSQL', 'NATS'],
    invariants: ['audiences', 'answers', 'heals'],
    covers: ['compute-killed', 'compute-asleep', 'database-full', 'database-killed'],
    isTimeless: true,
  },
  'compute-behind': {
    run: starveCompute,
    promise:
      'collect takes every call while nothing computes, and definitions say since when events are missing in them',
    injects: 'compute is away until the streams are full',
    against: ['compute'],
    invariants: ['audiences', 'answers'],
    covers: ['compute-behind'],
    isTimeless: true,
  },
  'cell-lost': {
    run: loseCell,
    promise:
      'the loss of a cell is not noticed by the sources of another; its own are collected by its spare, or refused with 503',
    injects: 'SIGKILL of all servers of a cell with a spare, then of one without',
    against: ['NATS'],
    invariants: ['kept', 'own', 'answers', 'others'],
    covers: ['cell-lost'],
  },
  'cell-move': {
    run: moveCell,
    promise: 'a source that moves between cells under load loses nothing, and the other cell does not notice',
    injects: 'a source moves between two cells, again and again',
    against: ['control'],
    invariants: ['kept', 'own', 'answers', 'others'],
    covers: ['source-moved'],
  },
  'config-churn': {
    run: churnConfig,
    promise:
      'destinations that people pause, resume and change all the time get every event once, and the record is exact',
    injects: 'ten changes a second: pauses, names and limits of destinations, and sources that come and go',
    against: ['control'],
    invariants: RECORDED,
    covers: ['config-churn'],
    isTimeless: true,
  },
  partitions: {
    run: partition,
    promise:
      'servers and roles that are cut from each other, in both directions or in one, lose and hide nothing, and go on by themselves when they are healed',
    injects: 'packets between servers, roles, PostgreSQL and receivers vanish, in both directions or in one',
    against: ['collect', 'deliver', 'control', 'NATS', 'PostgreSQL', 'receivers'],
    invariants: RECORDED,
    covers: ['network-cut', 'network-bad'],
    isTimeless: true,
  },
  'power-cut': {
    run: cutPower,
    promise:
      'no acknowledged call is lost when the power of one, two or all three servers fails, and the record is exact when that of PostgreSQL does',
    injects: 'servers and PostgreSQL die and lose, in part or torn, what they had not synced',
    against: ['NATS', 'PostgreSQL'],
    invariants: [...STORED, 'record'],
    covers: ['power-lost'],
    isTimeless: true,
  },
} as const satisfies FaultEntries;
