import { setTimeout as sleep } from 'node:timers/promises';
import { finishDeliveries } from '../deliver/finish-deliveries.ts';
import type { Strike } from '../deliver/judge-deliveries.ts';
import { type DeliverScene, openDeliverScene } from '../deliver/open-deliver-scene.ts';
import { planWorkspaces } from '../deliver/plan-workspaces.ts';
import { joinFindings } from '../join-findings.ts';
import type { FaultRun, Findings } from '../run-fault.ts';
import { countInFlight, loadCrashScene, ON_ITS_WAY_MS } from './kill-deliver.ts';

const WARM_UP_MS = 2_000;
/** Of the consumers of requests. */
const ACK_WAIT_MS = 7_000;
/** Together longer than the lease of a lane, which is 12 seconds. */
const ACK_WAITS_ASLEEP = 2;
const LOOK_MS = 1_000;
/** Shorter than the patience of clients. */
const COLLECT_ASLEEP_MS = 3_000;

/**
 * One of two deliver processes stands still until its leases and its requests are with the other one, and goes on. Meanwhile collect stands
 * still with requests under way. Nothing is lost, and no more comes twice than the sleeper had.
 */
export async function suspendProcesses(run: FaultRun): Promise<Findings> {
  await using scene = await openSleepScene(run);
  const load = loadCrashScene(scene, run);
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
  for (let nth = 0; nth < ACK_WAITS_ASLEEP; nth += 1) inFlight += await mostInFlight(scene);
  sleeper.resume();
  const until = performance.now() + ON_ITS_WAY_MS;
  return { what: `sleep of deliver ${scene.delivers.indexOf(sleeper) + 1}`, from, until, inFlight };
}

/**
 * NATS goes on sending the sleeper what it had asked for, into its sockets, and gives each request to the other one after an ack wait. So
 * the sleeper has more than was under way in any one moment: the requests of each of the ack waits, together.
 */
async function mostInFlight(scene: DeliverScene): Promise<number> {
  const endsAt = performance.now() + ACK_WAIT_MS;
  let most = 0;
  while (performance.now() < endsAt) {
    await sleep(LOOK_MS);
    most = Math.max(most, await countInFlight(scene, performance.now()));
  }
  return most;
}

async function suspendCollect({ collect }: DeliverScene): Promise<void> {
  await sleep(WARM_UP_MS);
  collect.suspend();
  await sleep(COLLECT_ASLEEP_MS);
  collect.resume();
}
