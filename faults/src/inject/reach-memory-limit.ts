import { execFileSync } from 'node:child_process';
import { existsSync, readFileSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';
import { finishDeliveries } from '../deliver/finish-deliveries.ts';
import type { Strike } from '../deliver/judge-deliveries.ts';
import type { DeliverScene } from '../deliver/open-deliver-scene.ts';
import { joinFindings } from '../join-findings.ts';
import type { FaultRun, Findings } from '../run-fault.ts';
import type { Exit, ServerProcess } from '../server-process.ts';
import { waitUntil } from '../wait-until.ts';
import { countInFlight, loadCrashScene, ON_ITS_WAY_MS, openCrashScene } from './kill-deliver.ts';

const WARM_UP_MS = 2_000;
const DEAD_WITHIN_MS = 60_000;

/**
 * Collect, and then a deliver process, get no more memory than they have: the kernel refuses an allocation, and the process ends itself
 * in the middle of its work, without a goodbye.
 */
export async function reachMemoryLimit(run: FaultRun): Promise<Findings> {
  await using scene = await openCrashScene(run);
  const load = loadCrashScene(scene);
  await sleep(WARM_UP_MS);
  const collectEnd = await endOf(scene.collect);
  await scene.collect.start();
  await sleep(WARM_UP_MS);
  const { strike, end: deliverEnd } = await endDeliver(scene);
  run.say(`ended at its memory limit: ${JSON.stringify(strike)}`);
  const found = await finishDeliveries(scene, load, [strike]);
  const ends = [collectEnd, deliverEnd].map(({ code, signal }) => String(signal ?? code));
  return joinFindings({ figures: { ends } }, found);
}

async function endDeliver(scene: DeliverScene): Promise<{ strike: Strike; end: Exit }> {
  const [victim] = scene.delivers;
  if (victim === undefined) throw new Error('nobody delivers');
  const from = performance.now();
  const end = await endOf(victim);
  const endedAt = performance.now();
  const inFlight = await countInFlight(scene, endedAt);
  await victim.start();
  return { strike: { what: 'the end of deliver 1', from, until: endedAt + ON_ITS_WAY_MS, inFlight }, end };
}

/** Limits the memory of a process to what it has, and resolves when it has ended. */
async function endOf(victim: ServerProcess): Promise<Exit> {
  const pid = victim.pid() ?? 0;
  execFileSync('prlimit', ['--pid', String(pid), `--data=${dataBytes(pid)}`]);
  // A dead process that is not taken note of yet has no descriptors.
  await waitUntil('the process has ended', DEAD_WITHIN_MS, () => !existsSync(`/proc/${pid}/fd/0`));
  return victim.kill('SIGKILL');
}

/** Private memory that the process can write to: the kernel holds it against the limit. */
function dataBytes(pid: number): number {
  const [, kilobytes = '0'] = /^VmData:\s+(\d+) kB$/m.exec(readFileSync(`/proc/${pid}/status`, 'utf8')) ?? [];
  return Number(kilobytes) * 1_024;
}
