import { setTimeout as sleep } from 'node:timers/promises';
import { finishDeliveries } from '../deliver/finish-deliveries.ts';
import type { Strike } from '../deliver/judge-deliveries.ts';
import type { DeliverScene } from '../deliver/open-deliver-scene.ts';
import { joinFindings } from '../join-findings.ts';
import type { FaultRun, Findings } from '../run-fault.ts';
import { followSchedule, type Schedule } from '../schedule.ts';
import { waitUntil } from '../wait-until.ts';
import { countInFlight, DELIVER_KILL_EVERY_MS, killOne, loadCrashScene, openCrashScene } from './kill-deliver.ts';

const EVERY_MS = 10_000;
const DOWN_MS = 2_000;
/** Processes learn of a new leader a little later than we do. */
const AFTERMATH_MS = 1_000;
const LEADERS_WITHIN_MS = 60_000;
const VICTIMS: readonly string[] = ['EVENTS-0', 'LANES-0', 'TICKETS', 'EVENTS-1', 'LANES-1', 'TICKETS'];

/** The server that leads a stream of delivery dies every ten seconds, and is back two seconds later. */
export async function killDeliverLeaders(run: FaultRun): Promise<Findings> {
  await using scene = await openCrashScene(run);
  const load = loadCrashScene(scene, run);
  const strikes: Strike[] = [];
  await followSchedule(leaderSchedule(run), () => strikeLeader(scene, run, strikes));
  return withKills(await finishDeliveries(scene, load, strikes), strikes);
}

/** The same, and beside it one of two delivering processes dies every five seconds. */
export async function killDeliverAndLeaders(run: FaultRun): Promise<Findings> {
  await using scene = await openCrashScene(run);
  const load = loadCrashScene(scene, run);
  const strikes: Strike[] = [];
  const leaders = leaderSchedule(run);
  const deliverAt = Array.from({ length: leaders.lengthMs / DELIVER_KILL_EVERY_MS }, (_, i) => {
    return 2_500 + i * DELIVER_KILL_EVERY_MS;
  });
  await Promise.all([
    followSchedule(leaders, () => strikeLeader(scene, run, strikes)),
    followSchedule({ ...leaders, atMs: deliverAt }, async () => void strikes.push(await killOne(scene, run.random))),
  ]);
  return withKills(await finishDeliveries(scene, load, strikes), strikes);
}

function withKills(found: Findings, strikes: readonly Strike[]): Findings {
  return joinFindings({ figures: { kills: strikes.length } }, found);
}

function leaderSchedule({ isFull }: FaultRun): Schedule {
  const rounds = isFull ? VICTIMS.length : 1;
  return {
    atMs: Array.from({ length: rounds }, (_, round) => 1_000 + round * EVERY_MS),
    // The end of a round is quiet, and there is nothing to wait for after the last one.
    lengthMs: isFull ? rounds * EVERY_MS : DELIVER_KILL_EVERY_MS,
  };
}

async function strikeLeader(scene: DeliverScene, run: FaultRun, strikes: Strike[]): Promise<void> {
  const round = strikes.filter(({ what }) => what.includes('leader')).length;
  const stream = VICTIMS[(round + run.seed) % VICTIMS.length] ?? '';
  const victim = (await scene.engine.leaders()).get(stream);
  if (victim === undefined) throw new Error(`${stream} has no leader`);
  const atKill = await countInFlight(scene, performance.now());
  const from = performance.now();
  await victim.kill('SIGKILL');
  await sleep(DOWN_MS);
  await victim.start();
  // A consumer has a leader of its own, often later than its stream: until then acknowledgements are lost.
  await waitUntil('streams and consumers have leaders', LEADERS_WITHIN_MS, async () => {
    return (await scene.engine.leftovers()).isWhole;
  });
  await sleep(AFTERMATH_MS);
  const until = performance.now();
  const inFlight = Math.max(atKill, await countInFlight(scene, until));
  strikes.push({ what: `kill of the leader of ${stream}`, from, until, inFlight });
  run.say(`killed: ${JSON.stringify(strikes.at(-1))}`);
}
