import { setTimeout as sleep } from 'node:timers/promises';
import { joinFindings } from '../join-findings.ts';
import { openScene, type Scene, STEADY } from '../open-scene.ts';
import type { FaultRun, Findings } from '../run-fault.ts';

type Outage = { untilLeadersMs: number; untilStoredMs: number };

const MAX_RECOVERY_MS = 15_000;
const AFTERMATH_MS = 3_000;

/** All servers die in the same moment, as when a rack loses its power supply, and are started again. */
export async function killAllNodes(run: FaultRun): Promise<Findings> {
  await using scene = await openScene(run, { nodes: 3, batchesPerSecond: STEADY });
  const outages: Outage[] = [];
  for (let round = 0; round < (run.isFull ? 3 : 1); round += 1) {
    await sleep(run.random.between(2_000, 4_000));
    const outage = await killOnce(scene);
    run.say(`all servers died: ${JSON.stringify(outage)}`);
    outages.push(outage);
  }
  const found = await scene.finish({ duplicates: 'across_streams', statuses: [200, 503], areResetsFine: false });
  const slowestRecoveryMs = Math.max(...outages.map((outage) => outage.untilStoredMs));
  const late = slowestRecoveryMs > MAX_RECOVERY_MS ? [`recovery took ${slowestRecoveryMs} ms`] : [];
  const figures = { kills: outages.length, slowestRecoveryMs };
  return joinFindings({ late, figures }, found, { figures: { each: outages } });
}

async function killOnce({ cluster, engine, oracle, load, disturb }: Scene): Promise<Outage> {
  const from = performance.now();
  await load.burst();
  await Promise.all(cluster.nodes.map((node) => node.kill('SIGKILL')));
  const restartedAt = performance.now();
  const stored = oracle.nextStored(restartedAt);
  const [untilLeadersMs] = await Promise.all([engine.hasLeaders(), ...cluster.nodes.map((node) => node.start())]);
  const untilStoredMs = (await stored).endedAt - restartedAt;
  await sleep(AFTERMATH_MS);
  disturb({ from, to: performance.now() });
  return { untilLeadersMs: Math.round(untilLeadersMs), untilStoredMs: Math.round(untilStoredMs) };
}
