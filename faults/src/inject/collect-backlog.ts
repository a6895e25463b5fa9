import { type Complaint, trueOnes } from '../complaints.ts';
import { loadavg } from 'node:os';
import { setTimeout as sleep } from 'node:timers/promises';
import { connectNats } from '../../../server/src/stream/nats/connect-nats.ts';
import { readHealth } from '../deliver/ask-engine.ts';
import { type BacklogCount, buildBacklog, countBacklog } from '../deliver/build-backlog.ts';
import { type LatencyBound, NOISY, STRICT } from '../deliver/judge-latency.ts';
import { judgePredictions, type Prediction } from '../deliver/judge-predictions.ts';
import { type DeliverScene, openDeliverScene } from '../deliver/open-deliver-scene.ts';
import { destinationIds, joinPlans, type Plan, planWorkspaces } from '../deliver/plan-workspaces.ts';
import { processFigures } from '../deliver/read-stats.ts';
import { watchHealthy } from '../deliver/watch-healthy.ts';
import { joinFindings } from '../join-findings.ts';
import type { FaultRun, Findings } from '../run-fault.ts';
import { SILENT } from '../sources.ts';
import { spend, waitUntil } from '../wait-until.ts';

/** `retryScale` leaves a window that is longer than the whole run: nothing may expire, and a probe is never far. */
type Sizes = { events: number; retryScale: number; perSecond: number; batchesPerSecond: number; bound: LatencyBound };

const FULL: Sizes = {
  events: 1_000_000,
  retryScale: 10,
  perSecond: 4_000,
  batchesPerSecond: 40,
  bound: STRICT,
};
const CI: Sizes = {
  events: 20_000,
  retryScale: 20,
  perSecond: 1_500,
  batchesPerSecond: 20,
  bound: NOISY,
};
const WARM_UP_MS = 2_000;
const LOOK_MS = 500;
const MAX_FRESH_MS = 1_000;
/** Until the next probe; beside it a drain may take four times as long as the limit lets it. */
const PROBE_PATIENCE_MS = 200_000;

/** One receiver is down while a great many deliveries gather for it. It comes back; the other receivers notice neither. */
export async function collectBacklog(run: FaultRun): Promise<Findings> {
  const sizes = run.isFull ? FULL : CI;
  const others = planWorkspaces({ name: 'flow', workspaces: 10, sourcesEach: 2, destinationsPerSource: 1 });
  const limits = { maxPerSecond: sizes.perSecond };
  const one = { name: 'down', workspaces: 1, sourcesEach: 1, destinationsPerSource: 1, limits };
  const down = planWorkspaces(one);
  const count = countBacklog(sizes.events);
  await using scene = await openDeliverScene(run, {
    nodes: 1,
    plan: joinPlans(others, down),
    behaviour: { status: 200 },
    retryScale: sizes.retryScale,
    roles: ['collect,deliver'],
    maxFileStoreMb: 40_960,
    isKept: count.isOther,
  });
  const load = scene.load({ batchesPerSecond: sizes.batchesPerSecond, sizes: [5, 5], inTurn: true });
  const [healthy, recovering] = [watchHealthy(scene, others.destinations), watchHealthy(scene, down.destinations)];
  await spend(WARM_UP_MS);
  const quiet = await spend(run.isFull ? 15_000 : 3_000);
  const buildUp = await gather(scene, down, sizes);
  run.say(`gathered in ${Math.round(buildUp.to - buildUp.from)} ms`);
  const { drain, ...recovery } = await recover(scene, { down, count, ...sizes });
  await load.stop();
  const fresh = recovering.compare('fresh', { quiet, during: drain }, { ...sizes.bound, ...FRESH_BOUND });
  return joinFindings(
    healthy.compare('buildUp', { quiet, during: buildUp }, sizes.bound),
    healthy.compare('drain', { quiet, during: drain }, sizes.bound),
    fresh,
    judgeDrain(count, sizes, drain),
    judgePredictions({ startedAt: drain.from, clearedAt: drain.to, ...recovery, maxError: run.isFull ? 0.3 : 0.6 }),
    await healthy.judge(),
    { figures: { ...processFigures(scene.delivers, drain), loadAverage: loadavg()[0] } },
  );
}

/** New events for a receiver that has just come back do not wait behind its backlog. */
const FRESH_BOUND = { floorMs: MAX_FRESH_MS, maxP99Ms: MAX_FRESH_MS, lateMs: 5_000 };

async function gather({ receivers, cluster }: DeliverScene, down: Plan, { events }: Sizes) {
  const ids = destinationIds(down);
  await receivers.behave(ids, { status: 500 });
  const from = performance.now();
  await buildBacklog({ natsUrl: cluster.url, source: down.sources[0], size: events });
  return { from, to: performance.now() };
}

type Recovering = Sizes & { down: Plan; count: BacklogCount };

async function recover({ receivers, cluster }: DeliverScene, { down, count, events, perSecond }: Recovering) {
  await using connection = await connectNats({ url: cluster.adminUrl, name: 'faults', log: SILENT });
  const [id = ''] = down.destinations.map((destination) => destination.id);
  await receivers.behave([id], { status: 200 });
  const predictions: Prediction[] = [];
  const patienceMs = PROBE_PATIENCE_MS + (events / perSecond) * 4_000;
  const isDelivered = async () => {
    await sleep(LOOK_MS);
    const health = await readHealth(connection, id);
    const at = health === undefined ? 0 : Date.parse(health.updatedAt) - performance.timeOrigin;
    const isNew = at !== predictions.at(-1)?.at;
    if (health?.clearInMs !== undefined && isNew) predictions.push({ at, clearInMs: health.clearInMs });
    return count.delivered() === events;
  };
  await waitUntil('the backlog is delivered', patienceMs, isDelivered).catch((error: unknown) => {
    throw new Error(`${count.delivered()} of ${events} were delivered`, { cause: error });
  });
  return { drain: { from: count.firstAt(), to: count.lastAt() }, predictions };
}

function judgeDrain(count: BacklogCount, { events, perSecond }: Sizes, drain: { from: number; to: number }) {
  const mostPerSecond = count.mostPerSecond();
  const drainMs = Math.round(drain.to - drain.from);
  const complaints: Complaint[] = [
    [count.repeated() > 0, `${count.repeated()} of the backlog were delivered twice`],
    [count.problems() > 0, `${count.problems()} of the backlog were changed or wrongly signed`],
    [mostPerSecond > perSecond * 1.15, `${mostPerSecond} were delivered in one second, but ${perSecond} are allowed`],
  ];
  return {
    failures: trueOnes(complaints),
    figures: { backlog: events, perSecondAllowed: perSecond, mostPerSecond, drainMs },
  };
}
