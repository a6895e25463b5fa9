import { loadavg } from 'node:os';
import { setTimeout as sleep } from 'node:timers/promises';
import { latencyFigures, NOISY, STRICT } from '../deliver/judge-latency.ts';
import { type Crowd, openCrowd } from '../deliver/open-crowd.ts';
import { cpuPercent, usageOf } from '../deliver/process-usage.ts';
import { processFigures } from '../deliver/read-stats.ts';
import { joinFindings } from '../join-findings.ts';
import { type Span } from '../measure-attempts.ts';
import type { FaultRun, Findings } from '../run-fault.ts';
import { spend, waitUntil } from '../wait-until.ts';

/** `stopMs` is longer than what the lanes wait for their next look by then. */
type Sizes = { lanes: number; retryScale: number; steadyMs: number; stopMs: number; afterMs: number; lateMs: number };

const FULL: Sizes = {
  lanes: 5_000,
  retryScale: 1,
  steadyMs: 40_000,
  stopMs: 50_000,
  afterMs: 30_000,
  lateMs: 1_000,
};
const CI: Sizes = { lanes: 500, retryScale: 2, steadyMs: 3_000, stopMs: 8_000, afterMs: 4_000, lateMs: 3_000 };
const RETURN_WITHIN_MS = 60_000;

/** Thousands of receivers fail. Then the engine is away for so long that all their lanes fall due in the same moment. */
export async function openManyLanes(run: FaultRun): Promise<Findings> {
  const { lanes, ...sizes } = run.isFull ? FULL : CI;
  const behaviour = { status: 500 };
  await using crowd = await openCrowd(run, { ...sizes, troubled: lanes, behaviour, roles: ['collect,deliver'] });
  const { scene, healthy, quiet } = crowd;
  const bound = run.isFull ? STRICT : NOISY;
  // For comparison: clients send at once the calls that they held back, and each stream waits for a leader.
  const without = run.isFull ? await stopEngine(crowd, sizes) : undefined;
  const opening = await crowd.stir(3);
  const steady = await watchEngine(crowd, sizes.steadyMs);
  run.say(`all lanes are open: ${JSON.stringify(steady.figures)}`);
  const after = await stopEngine(crowd, sizes);
  await crowd.load.stop();
  const freeze = { ...bound, floorMs: sizes.lateMs, maxP99Ms: sizes.lateMs, lateMs: sizes.lateMs };
  const missing = steady.openLanes < lanes ? [`only ${steady.openLanes} of ${lanes} lanes were open`] : [];
  return joinFindings(
    { failures: missing, figures: steady.figures },
    healthy.compare('opening', { quiet, during: opening }, bound),
    healthy.compare('open', { quiet, during: steady.span }, bound),
    healthy.compare('allDueAtOnce', { quiet, during: after }, freeze),
    { figures: { sameStopWithoutLanes: without && latencyFigures(healthy.latencies(without)) } },
    await healthy.judge(),
    { figures: { ...processFigures(scene.delivers, after), loadAverage: loadavg()[0] } },
  );
}

async function watchEngine({ scene }: Crowd, ms: number) {
  const usages = () => scene.cluster.nodes.map((node) => usageOf(node.pid()));
  const before = usages();
  const span = await spend(ms);
  const after = usages();
  const { tickets, laneGroups } = await scene.engine.leftovers();
  const natsCpuPercent = after.map((usage, index) => cpuPercent(before[index] ?? usage, usage));
  const natsRssMb = after.map(({ rssMb }) => rssMb);
  return { span, openLanes: tickets, figures: { natsCpuPercent, natsRssMb, openLanes: tickets, laneGroups } };
}

/** From the first arrival after the return on: until then there is nothing that could be late. */
async function stopEngine({ scene }: Crowd, { stopMs, afterMs }: Pick<Sizes, 'stopMs' | 'afterMs'>): Promise<Span> {
  const { nodes } = scene.cluster;
  await Promise.all(nodes.map((node) => node.kill('SIGTERM')));
  await sleep(stopMs);
  const returnedAt = performance.now();
  await Promise.all(nodes.map((node) => node.start()));
  const back = () => scene.arrivals.findLast(({ at }) => at > returnedAt)?.at;
  await waitUntil('events arrive again', RETURN_WITHIN_MS, () => back() !== undefined);
  const from = performance.now();
  await sleep(afterMs);
  return { from, to: performance.now() };
}
