import { existsSync, mkdirSync, rmdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { finishDeliveries } from '../deliver/finish-deliveries.ts';
import type { Strike } from '../deliver/judge-deliveries.ts';
import type { DeliverScene } from '../deliver/open-deliver-scene.ts';
import { joinFindings } from '../join-findings.ts';
import type { FaultRun, Findings } from '../run-fault.ts';
import type { ServerProcess } from '../server-process.ts';
import { waitUntil } from '../wait-until.ts';
import { countInFlight, loadCrashScene, ON_ITS_WAY_MS, openCrashScene } from './kill-deliver.ts';

const WARM_UP_MS = 2_000;
/** What the process has by now does not count, only what it asks for from now on. */
const MORE_BYTES = 4 * 1_048_576;
const DEAD_WITHIN_MS = 30_000;
const GROUPS = '/sys/fs/cgroup/memory';

/** The kernel ends collect, and then a deliver process, at its memory limit: that is a kill in the middle of an allocation. */
export async function reachMemoryLimit(run: FaultRun): Promise<Findings> {
  using group = openMemoryGroup();
  if (group === undefined) return { failures: [], late: [], figures: { skipped: 'this process may make no cgroup' } };
  await using scene = await openCrashScene(run);
  const load = loadCrashScene(scene);
  await sleep(WARM_UP_MS);
  await group.end(scene.collect);
  await scene.collect.start();
  await sleep(WARM_UP_MS);
  const strike = await endDeliver(scene, group);
  run.say(`ended by the kernel: ${JSON.stringify(strike)}`);
  const found = await finishDeliveries(scene, load, [strike]);
  return joinFindings({ figures: { ended: 2 } }, found);
}

async function endDeliver(scene: DeliverScene, group: MemoryGroup): Promise<Strike> {
  const [victim] = scene.delivers;
  if (victim === undefined) throw new Error('nobody delivers');
  const from = performance.now();
  await group.end(victim);
  const endedAt = performance.now();
  const inFlight = await countInFlight(scene, endedAt);
  await victim.start();
  return { what: 'the end of deliver 1', from, until: endedAt + ON_ITS_WAY_MS, inFlight };
}

type MemoryGroup = Disposable & {
  /** Limits the memory of a process, and resolves when the kernel has ended it. */
  end(victim: ServerProcess): Promise<void>;
};

/** A cgroup of version 1. Undefined where this process may not make one. */
function openMemoryGroup(): MemoryGroup | undefined {
  const dir = join(GROUPS, `millrace-faults-${process.pid}`);
  try {
    mkdirSync(dir);
    writeFileSync(join(dir, 'memory.limit_in_bytes'), String(MORE_BYTES));
  } catch {
    return undefined;
  }
  return {
    async end(victim) {
      const pid = victim.pid() ?? 0;
      writeFileSync(join(dir, 'cgroup.procs'), String(pid));
      await waitUntil('the kernel has ended the process', DEAD_WITHIN_MS, () => !existsSync(`/proc/${pid}/fd/0`));
    },
    [Symbol.dispose]: () => rmdirSync(dir),
  };
}
