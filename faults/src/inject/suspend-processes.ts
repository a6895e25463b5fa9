import { setTimeout as sleep } from 'node:timers/promises';
import { finishDeliveries } from '../deliver/finish-deliveries.ts';
import type { Strike } from '../deliver/judge-deliveries.ts';
import { type DeliverScene, openDeliverScene } from '../deliver/open-deliver-scene.ts';
import { planWorkspaces } from '../deliver/plan-workspaces.ts';
import { joinFindings } from '../join-findings.ts';
import type { FaultRun, Findings } from '../run-fault.ts';
import { countInFlight, loadCrashScene, ON_ITS_WAY_MS } from './kill-deliver.ts';

const WARM_UP_MS = 2_000;
/** Longer than the lease of a lane, which is 12 seconds, and than the ack wait of a request, which is 7. */
const DELIVER_ASLEEP_MS = 14_000;
/** NATS sends a process that stands still all that it had asked for: that is under way as well. */
const LOOK_MS = 1_000;
/** Shorter than the patience of clients. */
const COLLECT_ASLEEP_MS = 3_000;

/**
 * One of two deliver processes stands still until its leases and its requests are with the other one, and goes on. Meanwhile collect stands
 * still with requests under way. Nothing is lost, and no more comes twice than the sleeper had.
 */
export async function suspendProcesses(run: FaultRun): Promise<Findings> {
  await using scene = await openSleepScene(run);
  const load = loadCrashScene(scene);
  const strikes: Strike[] = [];
  for (let round = 0; round < (run.isFull ? 5 : 1); round += 1) {
    await sleep(WARM_UP_MS);
    const [strike] = await Promise.all([suspendDeliver(scene, round), suspendCollect(scene)]);
    run.say(`awake again: ${JSON.stringify(strike)}`);
    strikes.push(strike);
  }
  const found = await finishDeliveries(scene, load, strikes);
  return joinFindings({ figures: { sleeps: strikes.length } }, found);
}

/** One answer in ten is a 500, so that lanes have holders all the time. */
function openSleepScene(run: FaultRun): Promise<DeliverScene> {
  const shape = { workspaces: 5, sourcesEach: 2, destinationsPerSource: 2 };
  return openDeliverScene(run, {
    nodes: 1,
    plan: planWorkspaces({ name: 'sleep', ...shape }),
    behaviour: { status: 200, failing: 0.1 },
    retryScale: 10,
    roles: ['collect', 'deliver', 'deliver'],
  });
}

async function suspendDeliver(scene: DeliverScene, round: number): Promise<Strike> {
  const sleeper = scene.delivers[round % scene.delivers.length];
  if (sleeper === undefined) throw new Error('nobody delivers');
  const from = performance.now();
  sleeper.suspend();
  let inFlight = 0;
  while (performance.now() < from + DELIVER_ASLEEP_MS) {
    inFlight = Math.max(inFlight, await countInFlight(scene, performance.now()));
    await sleep(LOOK_MS);
  }
  sleeper.resume();
  const until = performance.now() + ON_ITS_WAY_MS;
  return { what: `sleep of deliver ${scene.delivers.indexOf(sleeper) + 1}`, from, until, inFlight };
}

async function suspendCollect({ collect }: DeliverScene): Promise<void> {
  await sleep(WARM_UP_MS);
  collect.suspend();
  await sleep(COLLECT_ASLEEP_MS);
  collect.resume();
}
