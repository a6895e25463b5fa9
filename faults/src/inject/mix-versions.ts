import { checkOutVersion } from '@millrace/engines';
import { openInspector } from '../../../server/testing/inspector.ts';
import { finishDeliveries } from '../deliver/finish-deliveries.ts';
import type { Strike } from '../deliver/judge-deliveries.ts';
import { type DeliverScene, openDeliverScene } from '../deliver/open-deliver-scene.ts';
import { destinationIds, joinPlans, planWorkspaces } from '../deliver/plan-workspaces.ts';
import { readLettersInBoth } from '../deliver/read-letters-in-both.ts';
import { joinFindings } from '../join-findings.ts';
import type { FaultRun, Findings } from '../run-fault.ts';
import { MAIN } from '../../../server/testing/server-program.ts';
import type { ServerProcess } from '../server-process.ts';
import { SILENT } from '../sources.ts';
import { spend } from '../wait-until.ts';

/** The last version whose stored things carry no format version. */
const BEFORE = 'a2fef30';
/** Every delivery that is repeated is counted; how many is no promise of this fault. */
const ANY_NUMBER = 1_000_000;

/**
 * An upgrade from the version before, one process after the other under load, and the way back: each version reads what the
 * other wrote, in event streams, lanes, tickets and dead letters.
 */
export async function mixVersions(run: FaultRun): Promise<Findings> {
  using other = await checkOutVersion(BEFORE);
  const before = other.serverMain;
  const mains: string[] = [before, before, before];
  const plan = planWorkspaces({ name: 'mixed', workspaces: 4, sourcesEach: 2, destinationsPerSource: 2 });
  const refusing = planWorkspaces({ name: 'refusing', workspaces: 1, sourcesEach: 1, destinationsPerSource: 1 });
  await using scene = await openDeliverScene(run, {
    nodes: 1,
    plan: joinPlans(plan, refusing),
    // Enough of them fail for lanes and tickets to be there at every change.
    behaviour: { status: 200, failing: 0.2 },
    retryScale: 20,
    roles: ['collect', 'deliver', 'deliver'],
    mainOf: (index) => mains[index] ?? MAIN,
    isKept: ({ destinationId }) => !destinationId.startsWith('dst_refusing'),
  });
  await scene.receivers.behave(destinationIds(refusing), { status: 400 });
  const load = scene.load({ batchesPerSecond: 20, sizes: [5, 5] });
  const pauseMs = run.isFull ? 8_000 : 700;
  const strikes: Strike[] = [];
  const processes = [scene.collect, ...scene.delivers];
  const changeTo = async (main: string, order: readonly number[]) => {
    for (const index of order) {
      await spend(pauseMs);
      mains[index] = main;
      strikes.push(await restart(processes[index], `process ${index}`));
    }
  };
  for (let round = 0; round < (run.isFull ? 3 : 1); round += 1) {
    await changeTo(MAIN, [1, 2, 0]);
    run.say('upgraded, and back again');
    await changeTo(before, [2, 0, 1]);
  }
  await spend(pauseMs);
  return joinFindings(
    await finishDeliveries({ ...scene, plan }, load, strikes),
    await readLettersInBoth(scene, refusing, other.dir),
    await nothingQuarantined(scene),
  );
}

async function restart(process: ServerProcess | undefined, what: string): Promise<Strike> {
  if (process === undefined) throw new Error(`there is no ${what}`);
  const from = performance.now();
  await process.kill('SIGTERM');
  await process.start();
  return { what: `change of ${what}`, from, until: performance.now(), inFlight: ANY_NUMBER };
}

/** Two versions that understand each other put nothing there. */
export async function nothingQuarantined({ cluster }: Pick<DeliverScene, 'cluster'>): Promise<Partial<Findings>> {
  await using inspector = await openInspector(cluster.adminUrl, SILENT);
  const quarantined = [...(await inspector.quarantine.counts()).values()].reduce((all, each) => all + each, 0);
  const failure = `${quarantined} stored things of one version could not be read by the other`;
  return { failures: quarantined === 0 ? [] : [failure], figures: { quarantined } };
}
