import { killDeliverAndLeaders, killDeliverLeaders } from '../inject/kill-deliver-leaders.ts';
import { killDeliver } from '../inject/kill-deliver.ts';
import { killInBurst } from '../inject/kill-in-burst.ts';
import { killOneRecorder, suspendOneRecorder } from '../inject/kill-one-recorder.ts';
import { killOutcomesLeaders } from '../inject/kill-outcomes-leaders.ts';
import { poisonStreams } from '../inject/poison-streams.ts';
import { reachMemoryLimit } from '../inject/reach-memory-limit.ts';
import { runOutOfDescriptors } from '../inject/run-out-of-descriptors.ts';
import { skewClocks } from '../inject/skew-clocks.ts';
import { restartDatabase, stopRecorder } from '../inject/stop-recorder.ts';
import { suspendProcesses } from '../inject/suspend-processes.ts';
import { terminateDeliver } from '../inject/terminate-deliver.ts';
import { troubleDatabase } from '../inject/trouble-database.ts';
import { DELIVERED, RECORDED, type FaultEntries } from './fault-entry.ts';

/** Events go out: deliver, lanes, tickets and the record of outcomes. */
export const FAULTS_OF_DELIVERY = {
  'deliver-kill': {
    run: killDeliver,
    promise: 'a delivering process killed at any moment loses nothing, and repeats no more than it had under way',
    injects: 'SIGKILL of one of two deliver processes, every five seconds',
    against: ['deliver'],
    invariants: DELIVERED,
    covers: ['deliver-killed'],
    isTimeless: true,
  },
  'deliver-burst-kill': {
    run: killInBurst,
    promise: 'a delivering process killed in a burst repeats nothing that it had acknowledged, and loses nothing',
    injects: 'SIGKILL of deliver in the middle of a burst for one destination',
    against: ['deliver'],
    invariants: DELIVERED,
    covers: ['deliver-killed'],
    isTimeless: true,
  },
  'deliver-leader-kill': {
    run: killDeliverLeaders,
    promise: 'deliveries outlive the leader of any of their streams',
    injects: 'SIGKILL of the server that leads a stream of delivery, every ten seconds',
    against: ['NATS'],
    invariants: DELIVERED,
    covers: ['leader-killed'],
    isTimeless: true,
  },
  'deliver-both-kill': {
    run: killDeliverAndLeaders,
    promise: 'deliveries outlive leaders and delivering processes that die together',
    injects: 'the same, and beside it SIGKILL of one of two deliver processes every five seconds',
    against: ['NATS', 'deliver'],
    invariants: DELIVERED,
    covers: ['leader-killed', 'deliver-killed'],
    isTimeless: true,
  },
  'deliver-sigterm': {
    run: terminateDeliver,
    promise: 'a delivering process asked to leave loses nothing and repeats nothing',
    injects: 'SIGTERM of one deliver process after the other',
    against: ['deliver'],
    invariants: DELIVERED,
    covers: ['restart-rolling'],
    isTimeless: true,
  },
  'recorder-stopped': {
    run: stopRecorder,
    promise: 'deliveries do not notice that nobody records them, and afterwards the record misses none of them',
    injects: 'SIGKILL of the only process that records, which is away for long',
    against: ['control'],
    invariants: [...RECORDED, 'others'],
    covers: ['recorder-killed'],
  },
  'one-recorder-kill': {
    run: killOneRecorder,
    promise:
      'of two processes that record, one dies for long: the other records everything, and the record is exact to the last attempt',
    injects: 'SIGKILL of one of two processes that record, with batches that it holds',
    against: ['control'],
    invariants: RECORDED,
    covers: ['recorder-killed'],
    isTimeless: true,
  },
  'database-restarted': {
    run: restartDatabase,
    promise: 'the record is exact to the last attempt when PostgreSQL dies in the middle of it',
    injects: 'PostgreSQL ends as in a power cut, in the middle of a transaction of the recorder',
    against: ['PostgreSQL'],
    invariants: [...RECORDED, 'others'],
    covers: ['database-killed'],
  },
  'outcomes-leader-kill': {
    run: killOutcomesLeaders,
    promise: 'the record is exact to the last attempt when servers die that lead its streams',
    injects: 'SIGKILL of the server that leads one of three streams of outcomes',
    against: ['NATS'],
    invariants: RECORDED,
    covers: ['outcomes-leader-killed'],
    isTimeless: true,
  },
  'clock-skew': {
    run: skewClocks,
    promise: 'a wrong clock gives no lane two holders, moves no attempt from its time, and loses nothing',
    injects: 'clocks half a minute behind and a day ahead, and clocks that are set again and again',
    against: ['collect', 'deliver'],
    invariants: [...DELIVERED, 'times'],
    covers: ['clocks-wrong'],
    isTimeless: true,
  },
  poison: {
    run: poisonStreams,
    promise:
      'what nobody can read, in every stream and of every kind, kills no process, delays nobody and is in quarantine, all of it',
    injects:
      'unreadable requests, calls, deliveries, tickets, outcomes, dead letters, config entries and health entries',
    against: ['NATS'],
    invariants: [...RECORDED, 'others'],
    covers: ['messages-poisoned'],
  },
  'database-trouble': {
    run: troubleDatabase,
    promise:
      'deliveries do not notice that PostgreSQL is locked, read-only or deadlocked, and afterwards the record is exact',
    injects: 'locked tables, then a read-only server, then transactions that end as deadlocks',
    against: ['PostgreSQL'],
    invariants: [...RECORDED, 'others'],
    covers: ['database-slow', 'database-read-only', 'database-deadlocks'],
  },
  asleep: {
    run: suspendProcesses,
    promise:
      'a process that stands still for longer than its leases, and goes on, loses nothing and repeats no more than it had',
    injects: 'SIGSTOP of one of two deliver processes for 14 s, and of collect for 3 s',
    against: ['collect', 'deliver'],
    invariants: DELIVERED,
    covers: ['deliver-asleep', 'collect-asleep'],
    isTimeless: true,
  },
  'recorder-asleep': {
    run: suspendOneRecorder,
    promise: 'a recorder that wakes after another one has its outcomes writes nothing twice: the record is exact',
    injects: 'SIGSTOP of one of two processes that record, for longer than the ack wait',
    against: ['control'],
    invariants: RECORDED,
    covers: ['recorder-asleep'],
    isTimeless: true,
  },
  'memory-limit': {
    run: reachMemoryLimit,
    promise: 'a process that ends at its memory limit loses nothing, and repeats no more than it had under way',
    injects: 'deliver, and then collect, get no more memory than they have, and then more work, until they abort',
    against: ['collect', 'deliver'],
    invariants: DELIVERED,
    covers: ['memory-limit'],
    isTimeless: true,
  },
  'few-descriptors': {
    run: runOutOfDescriptors,
    promise: 'a process without file descriptors stays alive, loses and repeats nothing, and goes on when it has some',
    injects: 'a limit of four more open files, and a hundred sockets',
    against: ['collect', 'deliver'],
    invariants: DELIVERED,
    covers: ['descriptors-out'],
    isTimeless: true,
  },
} as const satisfies FaultEntries;
