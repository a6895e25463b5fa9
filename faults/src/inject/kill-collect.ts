import { joinFindings } from '../join-findings.ts';
import { openScene, STEADY } from '../open-scene.ts';
import type { FaultRun, Findings } from '../run-fault.ts';
import { followSchedule, planSchedule } from '../schedule.ts';

/** Collect is killed again and again. It recognises the retry of a stored request, so nothing is stored twice. */
export async function killCollect(run: FaultRun): Promise<Findings> {
  await using scene = await openScene(run, { nodes: 3, batchesPerSecond: STEADY });
  const lengthMs = run.isFull ? 60_000 : 13_000;
  const schedule = planSchedule(run.random, { lengthMs, everyMs: [2_000, 5_000], quietEndMs: 1_000 });
  let underWay = 0;
  const restartsMs: number[] = [];
  await followSchedule(schedule, async () => {
    await scene.load.burst();
    underWay += scene.load.waiting();
    await scene.collect.kill('SIGKILL');
    const killedAt = performance.now();
    await scene.collect.start();
    restartsMs.push(Math.round(performance.now() - killedAt));
  });
  const found = await scene.finish({ duplicates: 'never', statuses: [200, 503], areResetsFine: true });
  const figures = { kills: restartsMs.length, underWay, slowestRestartMs: Math.max(...restartsMs) };
  return joinFindings({ figures }, found);
}
