import { setTimeout as sleep } from 'node:timers/promises';
import { retrySchedule } from '../../../server/src/deliver/attempt/retry-schedule.ts';
import { connectNats } from '../../../server/src/stream/nats/connect-nats.ts';
import { TICKETS_STREAM } from '../../../server/src/stream/layout/layout.ts';
import { askEngine } from '../deliver/ask-engine.ts';
import { finishDeliveries } from '../deliver/finish-deliveries.ts';
import { judgeRetries } from '../deliver/judge-retries.ts';
import { type DeliverScene, openDeliverScene } from '../deliver/open-deliver-scene.ts';
import { joinPlans, planWorkspaces } from '../deliver/plan-workspaces.ts';
import type { Arrival } from '../deliver/read-arrival.ts';
import { joinFindings } from '../join-findings.ts';
import type { FaultRun, Findings } from '../run-fault.ts';
import { SILENT } from '../sources.ts';

const RETRY_SCALE = 10;
const BEHIND_MS = -30_000;
const AHEAD_MS = 86_400_000;
/** An administrator who sets a clock, again and again. */
const STEPS_MS: readonly number[] = [-3_600_000, 0, 3_600_000, -500, 86_400_000, -86_400_000];
/** Processes hear of each other within a second, and divide limits from then on. */
const ACQUAINTED_MS = 2_000;
/** Long enough for one holder after the other to take a turn. */
const ONE_AT_A_TIME_MS = 40;

/**
 * At first all delivering processes are half a minute behind the engine. Then one of them is a day ahead, and the clock of another
 * is set back and forth all the time, as is that of the collecting one. A receiver that takes one POST at a time shows how many
 * hold its lane.
 */
export async function skewClocks(run: FaultRun): Promise<Findings> {
  await using scene = await openSkewScene(run);
  await sleep(ACQUAINTED_MS);
  const [, ahead, stepping] = scene.delivers;
  for (const deliver of scene.delivers) deliver.setClock(BEHIND_MS);
  const load = scene.load({ batchesPerSecond: 10, sizes: [4, 4] });
  await sleep(run.isFull ? 20_000 : 4_000);
  ahead?.setClock(AHEAD_MS);
  const rounds = run.isFull ? 10 : 1;
  for (let round = 0; round < rounds; round += 1) {
    for (const stepMs of STEPS_MS) {
      stepping?.setClock(stepMs);
      scene.collect.setClock(-stepMs);
      await sleep(run.isFull ? 1_000 : 600);
    }
  }
  const found = await finishDeliveries(scene, load, []);
  const free = scene.arrivals.filter(({ destinationId }) => destinationId.startsWith('dst_free'));
  const retries = judgeRetries(free, retrySchedule(RETRY_SCALE));
  return joinFindings(found, retries, judgeHolders(scene.arrivals), {
    figures: { steps: rounds * STEPS_MS.length, ticketWrites: await countTicketWrites(scene) },
  });
}

function openSkewScene(run: FaultRun): Promise<DeliverScene> {
  const workspaces = { workspaces: 4, sourcesEach: 1, destinationsPerSource: 1 };
  const free = planWorkspaces({ name: 'free', ...workspaces });
  const single = planWorkspaces({ name: 'single', ...workspaces, limits: { maxConcurrency: 1 } });
  return openDeliverScene(run, {
    nodes: run.isFull ? 3 : 1,
    plan: joinPlans(free, single),
    behaviour: { status: 200, failing: 0.15, afterMs: ONE_AT_A_TIME_MS },
    retryScale: RETRY_SCALE,
    roles: ['collect', 'deliver', 'deliver', 'deliver'],
    hasSettableClocks: true,
  });
}

/** A limit of one cannot be divided among three processes: only the holder of the lane's ticket sends, one at a time. */
function judgeHolders(arrivals: readonly Arrival[]): Partial<Findings> {
  const single = arrivals.filter(({ destinationId }) => destinationId.startsWith('dst_single'));
  const beside = single.filter((arrival) => (arrival.beside ?? 0) > 0);
  const most = Math.max(0, ...single.map((arrival) => 1 + (arrival.beside ?? 0)));
  const failures = beside.length === 0 ? [] : [`${beside.length} POSTs came beside another: up to ${most} at once`];
  return { failures, figures: { ofSingle: single.length, besideAnother: beside.length, mostAtOnce: most } };
}

/** Leases taken, renewed and given back since the start. */
async function countTicketWrites({ cluster }: DeliverScene): Promise<number> {
  await using connection = await connectNats({ url: cluster.adminUrl, name: 'faults', log: SILENT });
  const { state } = await askEngine<{ state: { last_seq: number } }>(connection, `STREAM.INFO.${TICKETS_STREAM}`);
  return state.last_seq;
}
