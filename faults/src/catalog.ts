import { addServer } from './inject/add-server.ts';
import { attackFromReceivers } from './inject/attack-from-receivers.ts';
import { attackSignIn } from './inject/attack-sign-in.ts';
import { collectBacklog } from './inject/collect-backlog.ts';
import { cutOffServer } from './inject/cut-off-server.ts';
import { dripHeaders } from './inject/drip-headers.ts';
import { hangReceivers } from './inject/hang-receivers.ts';
import { floodTenant } from './inject/flood-tenant.ts';
import { isolateTrouble } from './inject/isolate-trouble.ts';
import { killAllNodes } from './inject/kill-all-nodes.ts';
import { killCollect } from './inject/kill-collect.ts';
import { killCompute } from './inject/kill-compute.ts';
import { killDeliverAndLeaders, killDeliverLeaders } from './inject/kill-deliver-leaders.ts';
import { killDeliver } from './inject/kill-deliver.ts';
import { killInBurst } from './inject/kill-in-burst.ts';
import { killLeader } from './inject/kill-leader.ts';
import { killOneRecorder } from './inject/kill-one-recorder.ts';
import { killOutcomesLeaders } from './inject/kill-outcomes-leaders.ts';
import { limitTenant } from './inject/limit-tenant.ts';
import { loseCell } from './inject/lose-cell.ts';
import { moveCell } from './inject/move-cell.ts';
import { openManyLanes } from './inject/open-many-lanes.ts';
import { partition } from './inject/partition.ts';
import { quietReceivers } from './inject/quiet-receivers.ts';
import { starveCompute } from './inject/starve-compute.ts';
import { stopDatabase } from './inject/stop-database.ts';
import { stopNats } from './inject/stop-nats.ts';
import { skewClocks } from './inject/skew-clocks.ts';
import { restartDatabase, stopRecorder } from './inject/stop-recorder.ts';
import { terminateCollect } from './inject/terminate-collect.ts';
import { terminateDeliver } from './inject/terminate-deliver.ts';
import { mixVersions } from './inject/mix-versions.ts';
import { poisonStreams } from './inject/poison-streams.ts';
import { drillRestore } from './operate/restore-drill.ts';
import { rollVersions } from './operate/roll-versions.ts';
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
  ['deliver-kill', killDeliver],
  ['deliver-burst-kill', killInBurst],
  ['deliver-leader-kill', killDeliverLeaders],
  ['deliver-both-kill', killDeliverAndLeaders],
  ['deliver-sigterm', terminateDeliver],
  ['isolation', isolateTrouble],
  ['tenant-flood', floodTenant],
  ['tenant-limits', limitTenant],
  ['backlog', collectBacklog],
  ['many-lanes', openManyLanes],
  ['hanging-receivers', hangReceivers],
  ['hostile-receivers', attackFromReceivers],
  ['quiet-receivers', quietReceivers],
  ['recorder-stopped', stopRecorder],
  ['database-restarted', restartDatabase],
  ['outcomes-leader-kill', killOutcomesLeaders],
  ['one-recorder-kill', killOneRecorder],
  ['clock-skew', skewClocks],
  ['poison', poisonStreams],
  ['mixed-versions', mixVersions],
  ['rolling-upgrade', rollVersions],
  ['restore-drill', drillRestore],
  ['compute-kill', killCompute],
  ['compute-behind', starveCompute],
  ['sign-in-attack', attackSignIn],
  ['server-added', addServer],
  ['cell-lost', loseCell],
  ['cell-move', moveCell],
  ['partitions', partition],
]);

/**
 * Those that judge what is lost, repeated or wrong, and no time that others on the machine could lengthen by much: they may run
 * beside other tests. The rest measures, and runs alone.
 */
export const TIMELESS: ReadonlySet<string> = new Set([
  'collect-kill',
  'all-nodes-kill',
  'deliver-kill',
  'deliver-burst-kill',
  'deliver-leader-kill',
  'deliver-both-kill',
  'deliver-sigterm',
  'outcomes-leader-kill',
  'one-recorder-kill',
  'clock-skew',
  'mixed-versions',
  'rolling-upgrade',
  'restore-drill',
  'compute-kill',
  'compute-behind',
  'server-added',
  'partitions',
]);
