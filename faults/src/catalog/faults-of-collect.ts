import { addServer } from '../inject/add-server.ts';
import { cutOffServer } from '../inject/cut-off-server.ts';
import { dripHeaders } from '../inject/drip-headers.ts';
import { fillNatsDisk } from '../inject/fill-nats-disk.ts';
import { killAllNodes } from '../inject/kill-all-nodes.ts';
import { killCollect } from '../inject/kill-collect.ts';
import { killLeader } from '../inject/kill-leader.ts';
import { revokeCredentials } from '../inject/revoke-credentials.ts';
import { stopDatabase } from '../inject/stop-database.ts';
import { stopNats } from '../inject/stop-nats.ts';
import { terminateCollect } from '../inject/terminate-collect.ts';
import { type FaultEntries, RECORDED, STORED } from './fault-entry.ts';

/** Calls come in: collect, the event streams and control. */
export const FAULTS_OF_COLLECT = {
  'collect-kill': {
    run: killCollect,
    promise: 'a collecting process killed at any moment loses nothing and stores nothing twice',
    injects: 'SIGKILL of collect, again and again',
    against: ['collect'],
    invariants: STORED,
    covers: ['collect-killed'],
    isTimeless: true,
  },
  'leader-kill': {
    run: killLeader,
    promise: 'requests move to the other stream within 1.5 s of a leader that dies, and nothing is lost',
    injects: 'SIGKILL of the server that leads an event stream, every ten seconds',
    against: ['NATS'],
    invariants: STORED,
    covers: ['leader-killed'],
  },
  'all-nodes-kill': {
    run: killAllNodes,
    promise: 'nothing acknowledged is lost when all servers die at once',
    injects: 'SIGKILL of all three servers in the same moment',
    against: ['NATS'],
    invariants: STORED,
    covers: ['all-servers-killed'],
    isTimeless: true,
  },
  'nats-stopped': {
    run: stopNats,
    promise: 'clients hear 503 within a second while there is no engine, and are served again by themselves',
    injects: 'SIGTERM, SIGKILL and SIGSTOP of the only server, and of all three',
    against: ['NATS'],
    invariants: [...STORED, 'heals'],
    covers: ['nats-gone'],
  },
  'cut-off-server': {
    run: cutOffServer,
    promise: 'a server that stops answering is left for another within 8 s',
    injects: 'SIGSTOP of the server that collect is connected to',
    against: ['NATS'],
    invariants: [...STORED, 'heals'],
    covers: ['server-silent'],
  },
  'slow-sockets': {
    run: dripHeaders,
    promise: 'sockets that drip their headers are closed, and nobody else notices them',
    injects: 'hundreds of sockets that send a byte of their headers at a time',
    against: ['clients'],
    invariants: [...STORED, 'others'],
    covers: ['sockets-slow'],
  },
  sigterm: {
    run: terminateCollect,
    promise: 'a process asked to leave ends what it has begun and refuses nobody with an error',
    injects: 'SIGTERM of collect, with requests whose bodies are on their way',
    against: ['collect'],
    invariants: STORED,
    covers: ['restart-rolling'],
  },
  'database-stopped': {
    run: stopDatabase,
    promise: 'collect does not notice that PostgreSQL is gone, control says so, and both go on when it is back',
    injects: 'PostgreSQL ends as in a power cut, is away, and comes back',
    against: ['PostgreSQL'],
    invariants: [...STORED, 'times', 'heals'],
    covers: ['database-killed'],
  },
  'nats-disk-full': {
    run: fillNatsDisk,
    promise:
      'clients hear 503 while the disk under NATS is full, and nothing acknowledged is lost when there is room again',
    injects: 'the disk of the only server is filled to the last block, and the server started again when there is room',
    against: ['NATS'],
    invariants: STORED,
    covers: ['nats-disk-full'],
    isTimeless: true,
  },
  'credentials-revoked': {
    run: revokeCredentials,
    promise: 'collect is served again without a restart when its password is changed on the servers and changed back',
    injects: 'another password for the NATS user of collect, for some seconds',
    against: ['NATS'],
    invariants: [...STORED, 'heals'],
    covers: ['credentials-revoked'],
    isTimeless: true,
  },
  'server-added': {
    run: addServer,
    promise:
      'a server that joins the cluster under load adds room and leads streams without a restart of any process, and nothing is lost',
    injects: 'a fourth server joins three',
    against: ['NATS'],
    invariants: RECORDED,
    covers: ['server-joins'],
    isTimeless: true,
  },
} as const satisfies FaultEntries;
