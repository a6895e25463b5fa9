import { setTimeout as sleep } from 'node:timers/promises';
import { joinFindings } from '../join-findings.ts';
import { judgeOutage, type Outage } from '../judge-outage.ts';
import { openScene, type Scene, type SceneShape, STEADY } from '../open-scene.ts';
import type { FaultRun, Findings } from '../run-fault.ts';
import { waitUntil } from '../wait-until.ts';
import { msUntilStatus, watchReadiness } from '../watch-readiness.ts';

const SIGNALS = ['SIGTERM', 'SIGKILL', 'SIGSTOP'] as const;
const QUIET_MS = 1_500;
const RED_AFTER_REQUEST_MS = 1_200;
const GREEN_WITHIN_MS = 60_000;

/** The whole engine goes away: ended, killed, or stopped with its sockets open. Clients hear so at once, and it heals by itself. */
export async function stopNats(run: FaultRun): Promise<Findings> {
  // Each has engines of its own, and together they need less than half of two processors.
  const [single, quiet, cluster] = await Promise.all([
    stopEachWay(run, { nodes: 1, batchesPerSecond: STEADY }, SIGNALS),
    // A lone request has none before it that found out that the engine is silent.
    stopEachWay(run, { nodes: 1, batchesPerSecond: 1 }, ['SIGSTOP']),
    stopEachWay(run, { nodes: 3, batchesPerSecond: STEADY }, SIGNALS),
  ]);
  return {
    ...joinFindings(single, quiet, cluster),
    figures: { single: single.figures, quiet: quiet.figures, cluster: cluster.figures },
  };
}

type Stop = Omit<Outage, 'redWithinMs'>;
type Signals = readonly NodeJS.Signals[];

async function stopEachWay(run: FaultRun, shape: SceneShape, signals: Signals): Promise<Findings> {
  await using scene = await openScene(run, shape);
  await using readiness = watchReadiness(scene.collect.url);
  const title = `${shape.nodes} servers${shape.batchesPerSecond === STEADY ? '' : ', quiet'}`;
  const redWithinMs = RED_AFTER_REQUEST_MS + 1_000 / shape.batchesPerSecond;
  const judged: Findings[] = [];
  for (const signal of signals) {
    await sleep(QUIET_MS);
    const outage = { ...(await stopOnce(scene, signal, run.isFull ? 8_000 : 2_500)), redWithinMs };
    const isGreen = () => msUntilStatus(readiness.samples, 200, outage.returnedAt) !== undefined;
    await waitUntil('/readyz is green', GREEN_WITHIN_MS, isGreen);
    scene.disturb({ from: outage.from, to: performance.now() + QUIET_MS });
    const found = judgeOutage(outage, scene.oracle.attempts, readiness.samples);
    run.say(`${title}: ${JSON.stringify(found.figures)}`);
    judged.push(found);
  }
  await sleep(QUIET_MS);
  const found = await scene.finish({ duplicates: 'across_streams', statuses: [200, 503], areResetsFine: false });
  const { failures, late } = joinFindings(...judged, found);
  const named = (text: string) => `${title}: ${text}`;
  return {
    failures: failures.map(named),
    late: late.map(named),
    figures: { ...found.figures, each: judged.map(({ figures }) => figures) },
  };
}

async function stopOnce({ cluster, engine, oracle }: Scene, signal: NodeJS.Signals, outageMs: number): Promise<Stop> {
  const from = performance.now();
  await Promise.all(cluster.nodes.map((node) => node.kill(signal)));
  const goneAt = performance.now();
  await sleep(outageMs);
  const returnedAt = performance.now();
  const stored = oracle.nextStored(returnedAt);
  const returning = cluster.nodes.map((node) => (signal === 'SIGSTOP' ? node.kill('SIGCONT') : node.start()));
  const [untilLeadersMs] = await Promise.all([engine.hasLeaders(), ...returning]);
  const untilStoredMs = Math.round((await stored).endedAt - returnedAt);
  return { signal, from, goneAt, returnedAt, untilLeadersMs: Math.round(untilLeadersMs), untilStoredMs };
}
