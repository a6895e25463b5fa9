import { checkOutVersion } from '@millrace/engines';
import { judgeDeliveries, type Strike } from '../deliver/judge-deliveries.ts';
import { countStoredAgain } from '../deliver/finish-deliveries.ts';
import { planWorkspaces } from '../deliver/plan-workspaces.ts';
import { joinFindings } from '../join-findings.ts';
import { nothingQuarantined } from '../inject/mix-versions.ts';
import type { FaultRun, Findings } from '../run-fault.ts';
import { MAIN } from '../../../server/testing/server-program.ts';
import { startDatabase } from '../start-database.ts';
import { spend, waitUntil } from '../wait-until.ts';
import { openInstallation, type Installation } from './open-installation.ts';
import { sendComputed } from './send-computed.ts';

/** The last release. None is published yet: this is the last version before migrations had marks. */
const LAST_RELEASE = 'cc65c53';
/** Every delivery that is repeated is counted; how many is no promise of this fault. */
const ANY_NUMBER = 1_000_000;
const DRAINED_WITHIN_MS = 240_000;

type Roll = { to: string; order: readonly (number | 'control')[] };

/**
 * From the last release to this version and back, one process after the other, under load and with backlogs: control first on the
 * way up and last on the way back, so that in between every role runs in both versions, on the database of the newer one. Requests
 * in the format of compute come while one deliver process of each version runs.
 */
export async function rollVersions(run: FaultRun): Promise<Findings> {
  using other = await checkOutVersion(LAST_RELEASE);
  const before = other.serverMain;
  const mains = { control: before, others: [before, before, before] };
  await using database = await startDatabase();
  const plan = planWorkspaces({ name: 'roll', workspaces: 1, sourcesEach: 3, destinationsPerSource: 2 });
  await using installation = await openInstallation(run, {
    database,
    nodes: 1,
    plan,
    // Enough of them fail for lanes and tickets to be there at every change.
    behaviour: { status: 200, failing: 0.1 },
    retryScale: 20,
    roles: ['collect', 'deliver', 'deliver'],
    mainOf: (index) => mains.others[index] ?? MAIN,
    controlMain: () => mains.control,
  });
  const { scene } = installation;
  const load = scene.load({ batchesPerSecond: run.isFull ? 40 : 5, sizes: [5, 5] });
  const strikes: Strike[] = [];
  const roll = async ({ to, order }: Roll) => {
    for (const which of order) {
      await spend(run.isFull ? 8_000 : 300);
      if (which === 'control') mains.control = to;
      else mains.others[which] = to;
      strikes.push(await change(installation, which, () => installation.startControl(database)));
    }
  };
  for (let round = 0; round < (run.isFull ? 3 : 1); round += 1) {
    await roll({ to: MAIN, order: ['control', 1] });
    // One deliver process of each version: the older one has to leave these to the other.
    await sendComputed(scene, database, run.isFull ? 200 : 10);
    await roll({ to: MAIN, order: [0, 2] });
    await allArrived(scene);
    run.say('upgraded, and back again');
    await roll({ to: before, order: [2, 0, 1, 'control'] });
  }
  await load.stop();
  return await judge(installation, strikes);
}

/** Before the way back: the version before leaves the requests of compute in the streams until a newer one comes. */
async function allArrived({ oracle, arrivals, plan }: Installation['scene']): Promise<void> {
  const computed = [...oracle.calls].filter(([id]) => id.startsWith('computed-'));
  const expected = computed.flatMap(([id, { sourceId }]) =>
    plan.destinations.filter((each) => each.sourceId === sourceId).map((each) => `${id} ${each.id}`),
  );
  await waitUntil('the calls of compute have arrived', DRAINED_WITHIN_MS, () => {
    const there = new Set(
      arrivals
        .filter(({ status }) => status === 200)
        .map(({ messageId, destinationId }) => `${messageId} ${destinationId}`),
    );
    return expected.every((name) => there.has(name));
  });
}

async function judge({ scene }: Installation, strikes: readonly Strike[]): Promise<Findings> {
  const drainedMs = await scene.drained(DRAINED_WITHIN_MS);
  await scene.receivers.heard();
  const { oracle, arrivals, plan } = scene;
  const storedAgain = await countStoredAgain(scene);
  const verdict = judgeDeliveries({ ...oracle, ...plan, arrivals, strikes, storedAgain });
  const changes = { changes: strikes.length, drainedMs: Math.round(drainedMs), repeats: verdict.repeats.length };
  return joinFindings(verdict, { figures: changes }, await nothingQuarantined(scene));
}

async function change(
  { scene, control }: Installation,
  which: number | 'control',
  startControl: () => Promise<unknown>,
): Promise<Strike> {
  const from = performance.now();
  if (which === 'control') {
    await control.kill('SIGTERM');
    await startControl();
  } else {
    const process = [scene.collect, ...scene.delivers][which];
    if (process === undefined) throw new Error(`there is no process ${which}`);
    await process.kill('SIGTERM');
    await process.start();
  }
  return { what: `change of ${which}`, from, until: performance.now(), inFlight: ANY_NUMBER };
}
