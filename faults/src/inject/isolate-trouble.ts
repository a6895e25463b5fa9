import { loadavg } from 'node:os';
import { openDeliverScene, type DeliverScene } from '../deliver/open-deliver-scene.ts';
import { type LatencyBound, NOISY, STRICT } from '../deliver/judge-latency.ts';
import { type Plan, planWorkspaces } from '../deliver/plan-workspaces.ts';
import { processFigures } from '../deliver/read-stats.ts';
import { watchHealthy } from '../deliver/watch-healthy.ts';
import { joinFindings } from '../join-findings.ts';
import type { Senders } from '../batch-maker.ts';
import type { FaultRun, Findings } from '../run-fault.ts';
import { spend } from '../wait-until.ts';

type Sizes = {
  workspaces: number;
  eventsPerSecond: number;
  hang: number;
  fail: number;
  flood: number;
  bound: LatencyBound;
};

const PER_WORKSPACE = 10;
const PER_BATCH = 5;
const FLOOD_TIMES = 10;
const MAX_IN_FLIGHT = 1_000;
const WARM_UP_MS = 2_000;

const FULL: Sizes = {
  workspaces: 20,
  eventsPerSecond: 1_000,
  hang: 20,
  fail: 20,
  flood: 5,
  bound: STRICT,
};
const CI: Sizes = {
  workspaces: 6,
  eventsPerSecond: 300,
  hang: 6,
  fail: 6,
  flood: 2,
  bound: NOISY,
};

/** Some receivers hang, some answer 500, some are flooded. Deliveries to all others are as fast as before. */
export async function isolateTrouble(run: FaultRun): Promise<Findings> {
  const sizes = run.isFull ? FULL : CI;
  const plan = planWorkspaces({
    name: 'isolation',
    workspaces: sizes.workspaces,
    sourcesEach: PER_WORKSPACE,
    destinationsPerSource: 1,
  });
  // Everything in one process on one server, as in a small installation.
  await using scene = await openDeliverScene(run, {
    nodes: 1,
    plan,
    behaviour: { status: 200 },
    retryScale: 1,
    roles: ['collect,deliver'],
  });
  const groups = divide(plan, sizes);
  const healthy = watchHealthy(scene, groups.healthy);
  const load = scene.load({ batchesPerSecond: sizes.eventsPerSecond / PER_BATCH, sizes: [PER_BATCH, PER_BATCH] });
  await spend(WARM_UP_MS);
  const quiet = await spend(run.isFull ? 20_000 : 3_000);
  scene.receivers.mostOpen();
  const flood = await makeTrouble(scene, groups, sizes);
  const during = await spend(run.isFull ? 60_000 : 7_000);
  const mostOpenSockets = scene.receivers.mostOpen();
  await Promise.all([load.stop(), flood.stop()]);
  const compared = healthy.compare('healthy', { quiet, during }, sizes.bound);
  const process = processFigures(scene.delivers, during);
  const slots =
    process.mostInFlight <= MAX_IN_FLIGHT ? [] : [`${process.mostInFlight} attempts were under way in one process`];
  const figures = { ...process, mostOpenSockets, loadAverage: loadavg()[0] };
  return joinFindings(compared, { failures: slots, figures }, await healthy.judge());
}

type Groups = { hang: Plan['destinations']; fail: Plan['destinations']; flood: Senders; healthy: Plan['destinations'] };

/** One of each workspace at a time, so that the trouble is spread over all of them. */
function divide({ destinations, sources }: Plan, { hang, fail, flood }: Sizes): Groups {
  const troubled = hang + fail;
  const [first, ...others] = sources.slice(troubled, troubled + flood);
  if (first === undefined) throw new Error('nobody floods');
  return {
    hang: destinations.slice(0, hang),
    fail: destinations.slice(hang, troubled),
    flood: [first, ...others],
    healthy: destinations.slice(troubled + flood),
  };
}

async function makeTrouble(scene: DeliverScene, { hang, fail, flood }: Groups, sizes: Sizes) {
  const ids = (destinations: Plan['destinations']) => destinations.map(({ id }) => id);
  await scene.receivers.behave(ids(hang), { status: 'hang' });
  await scene.receivers.behave(ids(fail), { status: 500 });
  const usualShare = sizes.eventsPerSecond / (sizes.workspaces * PER_WORKSPACE);
  const more = usualShare * (FLOOD_TIMES - 1) * flood.length;
  const prefix = 'flood';
  return scene.load({ prefix, senders: flood, batchesPerSecond: more / PER_BATCH, sizes: [PER_BATCH, PER_BATCH] });
}
