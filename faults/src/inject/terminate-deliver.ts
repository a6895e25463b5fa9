import { setTimeout as sleep } from 'node:timers/promises';
import { finishDeliveries } from '../deliver/finish-deliveries.ts';
import { joinFindings } from '../join-findings.ts';
import type { FaultRun, Findings } from '../run-fault.ts';
import { loadCrashScene, openCrashScene } from './kill-deliver.ts';

const MAX_STOP_MS = 10_000;

/** A deploy: one process after the other is asked to leave under load. Nothing is lost, and nothing comes twice. */
export async function terminateDeliver(run: FaultRun): Promise<Findings> {
  await using scene = await openCrashScene(run);
  const load = loadCrashScene(scene, run);
  const stops: { exitCode: number; stopMs: number }[] = [];
  for (let round = 0; round < (run.isFull ? 5 : 1); round += 1) {
    for (const deliver of scene.delivers) {
      await sleep(run.random.between(1_500, 3_000));
      const askedAt = performance.now();
      const { code } = await deliver.kill('SIGTERM');
      stops.push({ exitCode: code ?? -1, stopMs: Math.round(performance.now() - askedAt) });
      run.say(`asked to leave: ${JSON.stringify(stops.at(-1))}`);
      await deliver.start();
    }
  }
  const found = await finishDeliveries(scene, load, []);
  const failures = stops.filter(({ exitCode }) => exitCode !== 0).map(({ exitCode }) => `exit code ${exitCode}`);
  const late = stops.filter(({ stopMs }) => stopMs > MAX_STOP_MS).map(({ stopMs }) => `leaving took ${stopMs} ms`);
  const figures = { stops: stops.length, slowestStopMs: Math.max(...stops.map(({ stopMs }) => stopMs)) };
  return joinFindings({ failures, late, figures }, found);
}
