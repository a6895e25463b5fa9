import { setTimeout as sleep } from 'node:timers/promises';
import { holdRequests } from '../hold-requests.ts';
import { joinFindings } from '../join-findings.ts';
import type { Attempt } from '../oracle.ts';
import { openScene, type Scene } from '../open-scene.ts';
import type { FaultRun, Findings } from '../run-fault.ts';
import { batchMaker, type PreparedBatch } from '../batch-maker.ts';

type Stop = { exitCode: number; exitMs: number; inFlight: number; cutShort: number };

const HELD_REQUESTS = 20;
/** Long enough that the server has closed its door before the held requests are finished. */
const HOLD_MS = 500;
/** A request younger than this may still have been on its way to the server. */
const ARRIVED_AFTER_MS = 50;

/** A deploy: collect gets a SIGTERM under load. It finishes the requests that it has begun and answers none with an error. */
export async function terminateCollect(run: FaultRun): Promise<Findings> {
  await using scene = await openScene(run, { nodes: 1, batchesPerSecond: 80 });
  const makeBatch = batchMaker(run.random, 'held');
  const stops: Stop[] = [];
  for (let round = 0; round < (run.isFull ? 10 : 2); round += 1) {
    await sleep(run.random.between(1_000, 2_500));
    const stop = await stopOnce(scene, Array.from({ length: HELD_REQUESTS }, makeBatch));
    run.say(`asked to leave: ${JSON.stringify(stop)}`);
    stops.push(stop);
    await scene.collect.start();
  }
  const found = await scene.finish({ duplicates: 'never', statuses: [200], areResetsFine: true });
  const failures = stops.flatMap(stopProblems);
  return joinFindings({ failures, figures: { stops: stops.length } }, found, { figures: { each: stops } });
}

async function stopOnce({ collect, oracle }: Scene, batches: PreparedBatch[]): Promise<Stop> {
  const held = await holdRequests(collect.url, batches, oracle);
  const askedAt = performance.now();
  const exit = collect.kill('SIGTERM');
  await sleep(HOLD_MS);
  const finished = await held.finish();
  const { code } = await exit;
  const exitMs = Math.round(performance.now() - askedAt);
  const isInFlight = ({ startedAt, endedAt }: Attempt) => startedAt < askedAt - ARRIVED_AFTER_MS && endedAt > askedAt;
  const inFlight = [...new Set([...finished, ...oracle.attempts.filter(isInFlight)])];
  const cutShort = inFlight.filter((attempt) => attempt.outcome !== 200);
  return { exitCode: code ?? -1, exitMs, inFlight: inFlight.length, cutShort: cutShort.length };
}

function stopProblems({ exitCode, inFlight, cutShort }: Stop): string[] {
  return [
    ...(exitCode === 0 ? [] : [`exit code ${exitCode}`]),
    ...(cutShort === 0 ? [] : [`${cutShort} of ${inFlight} requests under way were cut short`]),
  ];
}
