import { laneStreamName } from '../../../server/src/stream/layout/layout.ts';
import { openInspector } from '../../../server/testing/inspector.ts';
import { finishDeliveries } from '../deliver/finish-deliveries.ts';
import type { Strike } from '../deliver/judge-deliveries.ts';
import { type DeliverScene, openDeliverScene } from '../deliver/open-deliver-scene.ts';
import { planWorkspaces } from '../deliver/plan-workspaces.ts';
import type { Leftovers } from '../engine-view.ts';
import type { Arrival } from '../deliver/read-arrival.ts';
import { joinFindings } from '../join-findings.ts';
import type { FaultRun, Findings } from '../run-fault.ts';
import { SILENT } from '../sources.ts';
import { waitUntil } from '../wait-until.ts';
import { arrivedLately, ON_ITS_WAY_MS } from './kill-deliver.ts';

/** More than one process takes at once, so that it is killed at its limit of deliveries in flight. */
const CALLS_PER_SECOND = 500;
const WITHIN_MS = 60_000;

/**
 * A deliver process dies in the middle of a burst of single calls for one destination. Deliveries that come twice are of
 * requests that it had not acknowledged (in flight, or answered so lately that their record was not stored yet), and of groups
 * that it had delivered from the lane and not removed yet: a slow machine puts a part of the burst there.
 */
export async function killInBurst(run: FaultRun): Promise<Findings> {
  const calls = run.isFull ? 5_000 : 1_000;
  await using scene = await openDeliverScene(run, {
    nodes: 1,
    plan: planWorkspaces({ name: 'burst', workspaces: 1, sourcesEach: 1, destinationsPerSource: 1 }),
    behaviour: { status: 200 },
    retryScale: 1,
    roles: ['collect', 'deliver'],
  });
  const load = scene.load({ batchesPerSecond: CALLS_PER_SECOND, sizes: [1, 1] });
  const burst = waitUntil('all calls were sent', WITHIN_MS, () => scene.oracle.calls.size >= calls).then(load.stop);
  await waitUntil('half of the calls arrived', WITHIN_MS, () => scene.arrivals.length >= calls / 2);
  const [deliver] = scene.delivers;
  if (deliver === undefined) throw new Error('nothing delivers');
  const from = performance.now();
  await deliver.kill('SIGKILL');
  const killedAt = performance.now();
  const { unacknowledged } = await readLeftovers(scene);
  const fromLane = await countInLanes(scene, await arrivedLately(scene, killedAt));
  const inFlight = unacknowledged + fromLane;
  const strikes: Strike[] = [{ what: 'kill in a burst', from, until: killedAt + ON_ITS_WAY_MS, inFlight }];
  await deliver.start();
  await burst;
  const found = await finishDeliveries(scene, load, strikes);
  const figures = {
    unacknowledgedAtKill: unacknowledged,
    fromLaneAtKill: fromLane,
    oldestMs: oldestMs(scene, killedAt),
  };
  return joinFindings(found, { figures });
}

async function readLeftovers({ engine }: DeliverScene): Promise<Leftovers> {
  let left = await engine.leftovers();
  await waitUntil('the engine says what is left', WITHIN_MS, async () => (left = await engine.leftovers()).isWhole);
  return left;
}

/** Of these arrivals, those that a lane still holds. A lane gathers deliveries that come together into one group. */
async function countInLanes({ cluster }: DeliverScene, arrived: readonly Arrival[]): Promise<number> {
  await using inspector = await openInspector(cluster.url, SILENT);
  const texts = await Promise.all([laneStreamName(0), laneStreamName(1)].map((stream) => inspector.textOf(stream)));
  const ids = new Set(arrived.map(({ messageId }) => messageId));
  return [...ids].filter((id) => texts.some((text) => text.includes(`"messageId":"${id}"`))).length;
}

/** How long before the kill the first of those had arrived that came again after it. */
function oldestMs({ arrivals }: DeliverScene, killedAt: number): number {
  const again = new Set(arrivals.filter(({ at }) => at > killedAt + ON_ITS_WAY_MS).map(({ messageId }) => messageId));
  const before = arrivals.filter(({ at, messageId }) => at <= killedAt && again.has(messageId)).map(({ at }) => at);
  return Math.round(killedAt - Math.min(killedAt, ...before));
}
