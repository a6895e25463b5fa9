import { cutOffServer } from './inject/cut-off-server.ts';
import { dripHeaders } from './inject/drip-headers.ts';
import { killAllNodes } from './inject/kill-all-nodes.ts';
import { killCollect } from './inject/kill-collect.ts';
import { killLeader } from './inject/kill-leader.ts';
import { stopDatabase } from './inject/stop-database.ts';
import { stopNats } from './inject/stop-nats.ts';
import { terminateCollect } from './inject/terminate-collect.ts';
import type { Fault } from './run-fault.ts';

/** Every fault by the name people call it. */
export const FAULTS: ReadonlyMap<string, Fault> = new Map([
  ['collect-kill', killCollect],
  ['leader-kill', killLeader],
  ['all-nodes-kill', killAllNodes],
  ['nats-stopped', stopNats],
  ['cut-off-server', cutOffServer],
  ['slow-sockets', dripHeaders],
  ['sigterm', terminateCollect],
  ['database-stopped', stopDatabase],
]);
