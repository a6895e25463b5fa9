import { type Complaint, trueOnes } from '../complaints.ts';
import { loadavg } from 'node:os';
import { NOISY } from '../deliver/judge-latency.ts';
import { openCrowd } from '../deliver/open-crowd.ts';
import { processFigures } from '../deliver/read-stats.ts';
import { joinFindings } from '../join-findings.ts';
import type { FaultRun, Findings } from '../run-fault.ts';
import { spend } from '../wait-until.ts';

const MAX_RSS_MB = 1_024;
/** In CI other processes take turns on the same cores, and each turn is a delay. */
const MAX_LOOP_DELAY_MS = { full: 100, ci: 300 };
const MAX_IN_FLIGHT = 1_000;
const HEALTHY = { floorMs: 1_000, maxP99Ms: 1_000, lateMs: 5_000 };

/** Very many receivers accept connections and never answer. Each costs a slot of its own for five seconds. */
export async function hangReceivers(run: FaultRun): Promise<Findings> {
  await using crowd = await openCrowd(run, {
    troubled: run.isFull ? 10_000 : 1_000,
    behaviour: { status: 'hang' },
    retryScale: 1,
    roles: ['collect', 'deliver', 'deliver'],
  });
  const { scene, healthy, quiet } = crowd;
  const { from } = await crowd.stir(3);
  const { to } = await spend(run.isFull ? 60_000 : 6_000);
  const during = { from, to };
  await crowd.load.stop();
  const process = processFigures(scene.delivers, during);
  const maxDelayMs = run.isFull ? MAX_LOOP_DELAY_MS.full : MAX_LOOP_DELAY_MS.ci;
  const complaints: Complaint[] = [
    [!(process.mostRssMb < MAX_RSS_MB), `a process took ${process.mostRssMb} MB`],
    [!(process.mostInFlight <= MAX_IN_FLIGHT), `${process.mostInFlight} attempts were under way in one process`],
  ];
  const late: Complaint[] = [
    [!(process.loopDelayP99Ms < maxDelayMs), `p99 of the loop delay was ${process.loopDelayP99Ms} ms`],
  ];
  const figures = { ...process, mostOpenSockets: scene.receivers.mostOpen(), loadAverage: loadavg()[0] };
  return joinFindings(
    { failures: trueOnes(complaints), late: trueOnes(late), figures },
    healthy.compare('healthy', { quiet, during }, run.isFull ? HEALTHY : { ...NOISY, ...HEALTHY }),
    await healthy.judge(),
  );
}
