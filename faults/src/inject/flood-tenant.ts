import { readFileSync } from 'node:fs';
import { type Complaint, trueOnes } from '../complaints.ts';
import { type LatencyBound, NOISY, STRICT } from '../deliver/judge-latency.ts';
import { markedCall } from '../deliver/marked-call.ts';
import { type DeliverScene, openDeliverScene } from '../deliver/open-deliver-scene.ts';
import { configOf, destinationIds, joinPlans, type Plan, planWorkspaces } from '../deliver/plan-workspaces.ts';
import { fillFigures } from '../deliver/read-fill.ts';
import { watchHealthy } from '../deliver/watch-healthy.ts';
import { joinFindings } from '../join-findings.ts';
import { countOutcomes, type Span } from '../measure-attempts.ts';
import type { FaultRun, Findings } from '../run-fault.ts';
import { writeConfig } from '../sources.ts';
import { spend, waitUntil } from '../wait-until.ts';

type Sizes = {
  storeMb: number;
  warmUpMs: number;
  quietMs: number;
  duringMs: number;
  floodPerSecond: number;
  bound: LatencyBound;
};

const FULL: Sizes = {
  storeMb: 200,
  warmUpMs: 40_000,
  quietMs: 15_000,
  duringMs: 40_000,
  floodPerSecond: 40,
  bound: STRICT,
};
const CI: Sizes = { storeMb: 60, warmUpMs: 1_500, quietMs: 3_000, duringMs: 4_000, floodPerSecond: 20, bound: NOISY };

const DEAD_EACH = 8;
const PADDING = 'x'.repeat(8_000);
const PER_BATCH = 2;
const BATCHES_PER_SECOND = 40;
/** Short enough for a neighbour's lane to be looked at again soon afterwards. */
const FAILING_MS = 3_000;
/** Retries after half a second, so that what a neighbour parked has come out before the end. */
const RETRY_SCALE = 10;
const FILLED_WITHIN_MS = 60_000;

/**
 * One workspace fills lanes, dead letters and configuration to what it may: half of its receivers fail for good, half refuse
 * everything. Its neighbours notice nothing: no call is refused, what fails for a while finds room in its lane and comes out,
 * and what their receivers refuse is kept as dead letters.
 */
export async function floodTenant(run: FaultRun): Promise<Findings> {
  const sizes = run.isFull ? FULL : CI;
  const plans = planTenants();
  const neighbours = joinPlans(plans.well, plans.failing, plans.refusing);
  await using scene = await openDeliverScene(run, {
    nodes: 1,
    plan: joinPlans(neighbours, plans.flood),
    behaviour: { status: 200 },
    retryScale: RETRY_SCALE,
    roles: ['collect,deliver', 'deliver'],
    maxFileStoreMb: sizes.storeMb,
    isKept: ({ destinationId }) => !destinationId.startsWith('dst_flood'),
  });
  const well = watchHealthy(scene, plans.well.destinations);
  const failing = watchHealthy(scene, plans.failing.destinations);
  const [first, ...others] = neighbours.sources;
  const load = scene.load({
    senders: [first, ...others],
    batchesPerSecond: BATCHES_PER_SECOND,
    sizes: [PER_BATCH, PER_BATCH],
  });
  await spend(sizes.warmUpMs);
  const quiet = await spend(sizes.quietMs);
  const flood = await startFlood(scene, plans.flood, sizes);
  const filledMs = await waitUntil('the flood is stopped by its shares', FILLED_WITHIN_MS, () => isStopped(scene));
  await scene.receivers.behave(destinationIds(plans.failing), { status: 500 });
  await scene.receivers.behave(destinationIds(plans.refusing), { status: 400 });
  const { from } = await spend(FAILING_MS);
  await scene.receivers.behave(destinationIds(plans.failing), { status: 200 });
  const { to } = await spend(sizes.duringMs - FAILING_MS);
  const during = { from, to };
  const isConfigTaken = await changeConfig(scene, plans.well);
  await Promise.all([load.stop(), flood.stop()]);
  const compared = well.compare('neighbours', { quiet, during }, sizes.bound);
  const fill = await fillFigures(scene.cluster.adminUrl);
  const verdicts = [await well.judge(), await failing.judge()];
  const cost = costOf(scene, { plans, quiet, isConfigTaken });
  return joinFindings(...verdicts, compared, cost, { figures: { filledMs: Math.round(filledMs), fill } });
}

type Plans = { well: Plan; failing: Plan; refusing: Plan; flood: Plan };

function planTenants(): Plans {
  const two = { workspaces: 2, sourcesEach: 1, destinationsPerSource: 1 };
  return {
    well: planWorkspaces({ name: 'well', workspaces: 4, sourcesEach: 2, destinationsPerSource: 1 }),
    failing: planWorkspaces({ name: 'failing', ...two }),
    refusing: planWorkspaces({ name: 'refusing', ...two }),
    flood: planWorkspaces({ name: 'flood', workspaces: 1, sourcesEach: 2, destinationsPerSource: DEAD_EACH }),
  };
}

async function startFlood(scene: DeliverScene, plan: Plan, { floodPerSecond }: Sizes) {
  const ofSource = (sourceId: string | undefined) =>
    plan.destinations.filter((destination) => destination.sourceId === sourceId).map(({ id }) => id);
  await scene.receivers.behave(ofSource(plan.sources[0].id), { status: 500 });
  await scene.receivers.behave(ofSource(plan.sources[1]?.id), { status: 400 });
  await fillConfig(scene, plan);
  return scene.load({
    prefix: 'flood',
    senders: plan.sources,
    inTurn: true,
    batchesPerSecond: floodPerSecond * plan.sources.length,
    sizes: [1, 1],
    makeCall: (source, messageId) => ({ ...markedCall(source, messageId), context: { padding: PADDING } }),
  });
}

/** As much as control lets one workspace have: three quarters of what the others leave. */
async function fillConfig({ cluster }: DeliverScene, flood: Plan): Promise<void> {
  const [destination] = configOf(flood, 1).filter(({ key }) => key.startsWith('destination.'));
  if (destination?.value === undefined) throw new Error('the plan has no destination');
  const idle = { ...(JSON.parse(destination.value) as object), sourceId: 'src_idle', padding: 'x'.repeat(60_000) };
  const { config } = await fillFigures(cluster.adminUrl);
  const count = Math.floor(((config?.maxBytes ?? 0) * 0.7) / 60_000);
  const changes = Array.from({ length: count }, (_, index) => {
    const id = `dst_idle${index}`;
    return { key: `destination.${id}`, value: JSON.stringify({ ...idle, id }) };
  });
  await writeConfig(cluster.url, { replicas: 1, eventStreams: 2 }, async (writer) => {
    await writer.write(changes);
  });
}

/** A neighbour enters one more destination. */
async function changeConfig({ cluster, receivers }: DeliverScene, well: Plan): Promise<boolean> {
  const more = planWorkspaces({ name: 'more', workspaces: 1, sourcesEach: 1, destinationsPerSource: 1 });
  try {
    await writeConfig(cluster.url, { replicas: 1, eventStreams: 2 }, async (writer) => {
      await writer.write(configOf(joinPlans(well, more), receivers.port));
    });
    return true;
  } catch {
    return false;
  }
}

type LogLine = { msg: string; destinationId: string; reason: string };

/** The log lines of the deliver processes about deliveries that they gave up. */
function givenUp({ delivers }: DeliverScene): LogLine[] {
  const lines = delivers.flatMap(({ logFile }) => readFileSync(logFile, 'utf8').split('\n'));
  return lines
    .filter((line) => /delivery\.given_up|dead_letter\.refused/.test(line) && line.endsWith('}'))
    .map((line) => JSON.parse(line) as LogLine);
}

function isStopped(scene: DeliverScene): boolean {
  const lines = givenUp(scene).filter(({ destinationId }) => destinationId.startsWith('dst_flood'));
  const isFull = lines.some(({ reason }) => reason === 'lane_full');
  return isFull && lines.some(({ msg }) => msg === 'dead_letter.refused');
}

type Cost = { plans: Plans; quiet: Span; isConfigTaken: boolean };

function costOf(scene: DeliverScene, { plans, quiet, isConfigTaken }: Cost): Partial<Findings> {
  const lines = givenUp(scene);
  const isFlood = ({ destinationId }: LogLine) => destinationId.startsWith('dst_flood');
  const laneFull = lines.filter(({ reason }) => reason === 'lane_full');
  const refused = lines.filter(({ msg }) => msg === 'dead_letter.refused');
  const kept = lines.filter(({ msg, reason }) => msg === 'delivery.given_up' && reason === 'discarded');
  const refusing = new Set(destinationIds(plans.refusing));
  const answers = countOutcomes(scene.oracle.attempts.filter(({ startedAt }) => startedAt >= quiet.from));
  const figures = {
    floodLaneFull: laneFull.filter(isFlood).length,
    floodLettersRefused: refused.filter(isFlood).length,
    neighboursLaneFull: laneFull.filter((line) => !isFlood(line)).length,
    neighboursLettersRefused: refused.filter((line) => !isFlood(line)).length,
    neighboursLettersKept: kept.filter(({ destinationId }) => refusing.has(destinationId)).length,
    answers,
  };
  const complaints: Complaint[] = [
    [
      figures.neighboursLaneFull > 0,
      `${figures.neighboursLaneFull} deliveries of neighbours were given up as lane_full`,
    ],
    [
      figures.neighboursLettersRefused > 0,
      `${figures.neighboursLettersRefused} dead letters of neighbours were refused`,
    ],
    [figures.neighboursLettersKept === 0, 'no dead letter of a neighbour was kept'],
    [Object.keys(answers).some((outcome) => outcome !== '200'), `calls were answered ${JSON.stringify(answers)}`],
    [!isConfigTaken, 'a change of a neighbour’s configuration was refused'],
  ];
  return { failures: trueOnes(complaints), figures };
}
