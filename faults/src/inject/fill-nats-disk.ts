import { setTimeout as sleep } from 'node:timers/promises';
import { openSmallDisk } from '../compute/small-disk.ts';
import { joinFindings } from '../join-findings.ts';
import { openScene, STEADY } from '../open-scene.ts';
import type { FaultRun, Findings } from '../run-fault.ts';

const DISK_MB = 64;
const QUIET_MS = 1_500;
/** After a full disk nats-server does not write before it is started again. */
const RESTART_AFTER_MS = 1_000;

/**
 * The disk under NATS is full to the last block, although its limits say otherwise. Clients hear 503 and never 200. When an operator has
 * made room and started NATS again, everything that was acknowledged is there, and calls are stored again.
 */
export async function fillNatsDisk(run: FaultRun): Promise<Findings> {
  using disk = openSmallDisk(DISK_MB);
  if (disk === undefined) return { failures: [], late: [], figures: { skipped: 'this process may not mount a disk' } };
  await using scene = await openScene(run, { nodes: 1, batchesPerSecond: STEADY, storeDirs: [disk.dir] });
  await sleep(QUIET_MS);
  const from = performance.now();
  disk.fill();
  await sleep(run.isFull ? 20_000 : 4_000);
  const during = scene.oracle.attempts.filter(({ startedAt }) => startedAt > from);
  disk.free();
  await sleep(RESTART_AFTER_MS);
  for (const node of scene.cluster.nodes) {
    await node.kill('SIGTERM');
    await node.start();
  }
  scene.disturb({ from, to: performance.now() + QUIET_MS });
  await sleep(QUIET_MS);
  const found = await scene.finish({ duplicates: 'across_streams', statuses: [200, 503], areResetsFine: false });
  const refused = during.filter(({ outcome }) => outcome === 503).length;
  const failures = refused === 0 ? ['no client was answered 503: the disk was not full'] : [];
  return joinFindings({ failures, figures: { refused } }, found);
}
