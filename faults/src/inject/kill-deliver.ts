import { finishDeliveries } from '../deliver/finish-deliveries.ts';
import type { Strike } from '../deliver/judge-deliveries.ts';
import { type DeliverScene, openDeliverScene } from '../deliver/open-deliver-scene.ts';
import { planWorkspaces } from '../deliver/plan-workspaces.ts';
import type { Arrival } from '../deliver/read-arrival.ts';
import type { FaultRun, Findings } from '../run-fault.ts';
import { followSchedule } from '../schedule.ts';
import type { Random } from '../seeded-random.ts';

export const DELIVER_KILL_EVERY_MS = 5_000;
export const CALLS_PER_BATCH = 10;
export const DESTINATIONS_PER_SOURCE = 2;
/** Requests that the dead process had written into its sockets still arrive, on a busy machine a little later. */
export const ON_ITS_WAY_MS = 1_000;
/** A lane removes delivered groups half a second later, or at the end of a drain. */
const LANE_MEMORY_MS = 1_000;

/** One of two deliver processes is killed every five seconds: the deliveries it had in flight come again, and no others. */
export async function killDeliver(run: FaultRun): Promise<Findings> {
  await using scene = await openCrashScene(run);
  const load = loadCrashScene(scene, run);
  const rounds = run.isFull ? 12 : 2;
  const strikes: Strike[] = [];
  const atMs = Array.from({ length: rounds }, (_, round) => 2_000 + round * DELIVER_KILL_EVERY_MS);
  await followSchedule({ atMs, lengthMs: 3_000 + (rounds - 1) * DELIVER_KILL_EVERY_MS }, async () => {
    strikes.push(await killOne(scene, run.random));
    run.say(`killed: ${JSON.stringify(strikes.at(-1))}`);
  });
  const found = await finishDeliveries(scene, load, strikes);
  return { ...found, figures: { kills: strikes.length, ...found.figures } };
}

/** Ten workspaces with two sources each, on three servers; half of the destinations get batches, and one answer in twenty is a 500. */
export function openCrashScene(run: FaultRun): Promise<DeliverScene> {
  const shape = { workspaces: 10, sourcesEach: 2, destinationsPerSource: DESTINATIONS_PER_SOURCE };
  return openDeliverScene(run, {
    nodes: 3,
    plan: planWorkspaces({ name: 'crash', ...shape, hasBatches: true }),
    behaviour: { status: 200, failing: 0.05 },
    retryScale: 10,
    roles: ['collect', 'deliver', 'deliver'],
  });
}

export function loadCrashScene(scene: DeliverScene, { isFull }: Pick<FaultRun, 'isFull'>) {
  return scene.load({ batchesPerSecond: isFull ? 20 : 10, sizes: [CALLS_PER_BATCH, CALLS_PER_BATCH] });
}

/** Resolves when the process is there again. */
export async function killOne(scene: DeliverScene, random: Random): Promise<Strike> {
  const [first, ...others] = scene.delivers;
  if (first === undefined) throw new Error('nobody delivers');
  const victim = random.pick([first, ...others]);
  const from = performance.now();
  await victim.kill('SIGKILL');
  const killedAt = performance.now();
  const inFlight = await countInFlight(scene, killedAt);
  await victim.start();
  return {
    what: `kill of deliver ${scene.delivers.indexOf(victim) + 1}`,
    from,
    until: killedAt + ON_ITS_WAY_MS,
    inFlight,
  };
}

/** All deliveries of requests that are not acknowledged, and what lanes delivered a moment ago. */
export async function countInFlight(scene: DeliverScene, at: number): Promise<number> {
  const { unacknowledged } = await scene.engine.leftovers();
  const ofLanes = (await arrivedLately(scene, at)).filter(({ attempt }) => attempt > 1);
  return unacknowledged * CALLS_PER_BATCH * DESTINATIONS_PER_SOURCE + ofLanes.length;
}

/** Arrivals whose groups a lane may hold still. */
export async function arrivedLately({ receivers, arrivals }: DeliverScene, at: number): Promise<Arrival[]> {
  await receivers.heard();
  return arrivals.filter((one) => one.at > at - LANE_MEMORY_MS && one.at <= at);
}
