import { rmSync } from 'node:fs';
import { join } from 'node:path';
import { trueOnes } from '../complaints.ts';
import type { DeliverScene } from '../deliver/open-deliver-scene.ts';
import { planWorkspaces } from '../deliver/plan-workspaces.ts';
import type { SentCall } from '../oracle.ts';
import { readStored } from '../read-stored.ts';
import type { FaultRun, Findings } from '../run-fault.ts';
import type { ServerProcess } from '../server-process.ts';
import { type Database, startDatabase } from '../start-database.ts';
import { spend } from '../wait-until.ts';
import { openInstallation } from './open-installation.ts';
import { runCommand } from './run-command.ts';

const DRAINED_WITHIN_MS = 240_000;

/**
 * A backup under load on three servers; then every process dies, every engine too, and their folders are removed. Everything that was
 * acknowledged before the backup's point has to be there after the restore, and to arrive.
 */
export async function drillRestore(run: FaultRun): Promise<Findings> {
  await using database = await startDatabase();
  const plan = planWorkspaces({ name: 'drill', workspaces: 1, sourcesEach: 3, destinationsPerSource: 2 });
  await using installation = await openInstallation(run, {
    database,
    nodes: 3,
    plan,
    // Enough of them fail for lanes and tickets to be in the backup.
    behaviour: { status: 200, failing: 0.2 },
    retryScale: 20,
    roles: ['collect', 'deliver'],
  });
  const { scene, asOperator } = installation;
  const load = scene.load({ batchesPerSecond: run.isFull ? 60 : 20, sizes: [5, 5] });
  await spend(run.isFull ? 30_000 : 2_000);
  const dir = join(run.dir, 'backup');
  const backup = await runCommand<{ point: string }>(['backup', '--to', dir], asOperator(database));
  await spend(run.isFull ? 5_000 : 500);
  await load.stop();
  run.say(`backup as of ${backup.answer.point} in ${backup.seconds} s; now everything is destroyed`);
  await destroy(scene, installation.control, database);
  const destroyedAt = performance.now();
  await using fresh = await startDatabase();
  await Promise.all(scene.cluster.nodes.map((node) => node.start()));
  const restore = await runCommand(['restore', '--from', dir], asOperator(fresh));
  run.say(`restored in ${restore.seconds} s`);
  await installation.startControl(fresh);
  await Promise.all([scene.collect, ...scene.delivers].map((process) => process.start()));
  const pointAt = Date.parse(backup.answer.point) - performance.timeOrigin;
  const found = await judgeRestore(scene, { pointAt, destroyedAt });
  return { ...found, figures: { backupSeconds: backup.seconds, restoreSeconds: restore.seconds, ...found.figures } };
}

async function destroy(
  { collect, delivers, cluster }: DeliverScene,
  control: ServerProcess,
  database: Database,
): Promise<void> {
  await Promise.all([collect, ...delivers, control].map((process) => process.kill('SIGKILL')));
  await Promise.all(cluster.nodes.map((node) => node.kill('SIGKILL')));
  for (const { name } of cluster.nodes) rmSync(join(cluster.dir, name), { recursive: true, force: true });
  await database[Symbol.asyncDispose]();
}

type Times = { pointAt: number; destroyedAt: number };

async function judgeRestore(scene: DeliverScene, times: Times): Promise<Findings> {
  const after = scene.load({ batchesPerSecond: 20, sizes: [5, 5], prefix: 'after' });
  await spend(2_000);
  await after.stop();
  const drainedMs = await scene.drained(DRAINED_WITHIN_MS);
  await scene.receivers.heard();
  const stored = new Set((await readStored(scene.settings)).map(({ messageId }) => messageId));
  const { promised, later } = sortCalls(scene, times);
  const missing = promised.filter(([id]) => !stored.has(id)).map(([id]) => id);
  const { arrived, undelivered } = findUndelivered(scene, promised);
  const doubled = [...arrived.values()].filter((all) => all.length > 1);
  const figures = {
    calls: scene.oracle.calls.size,
    acknowledgedBeforePointOrAfterRestore: promised.length,
    acknowledgedLater: later.length,
    // Expected: the backup does not promise them.
    goneOfThoseLater: later.filter(([id]) => !stored.has(id)).length,
    missing: missing.length,
    undelivered: undelivered.length,
    deliveries: arrived.size,
    doubled: doubled.length,
    doubledByRestore: doubled.filter((all) => all.some(({ at }) => at > times.destroyedAt)).length,
    drainedMs: Math.round(drainedMs),
  };
  const some = (names: readonly string[]) => names.slice(0, 5).join(', ');
  const failures = trueOnes([
    [missing.length > 0, `${missing.length} calls acknowledged before the point are not restored: ${some(missing)}`],
    [undelivered.length > 0, `${undelivered.length} of their deliveries never arrived: ${some(undelivered)}`],
  ]);
  return { failures, late: [], figures };
}

type KnownCall = [id: string, call: SentCall];

/** Promised are calls that were acknowledged before the point, or by the restored installation. */
function sortCalls(
  { oracle }: DeliverScene,
  { pointAt, destroyedAt }: Times,
): { promised: KnownCall[]; later: KnownCall[] } {
  const known = [...oracle.calls].filter(([, { answered }]) => answered !== undefined);
  const isPromised = ([, { answered }]: KnownCall) =>
    answered !== undefined && (answered.endedAt < pointAt || answered.startedAt > destroyedAt);
  return { promised: known.filter(isPromised), later: known.filter((call) => !isPromised(call)) };
}

function findUndelivered({ arrivals, plan }: DeliverScene, promised: readonly KnownCall[]) {
  const good = arrivals.filter(({ status }) => status >= 200 && status < 300);
  const arrived = Map.groupBy(good, ({ messageId, destinationId }) => `${messageId} → ${destinationId}`);
  const expected = promised.flatMap(([id, { sourceId }]) =>
    plan.destinations.filter((each) => each.sourceId === sourceId).map((each) => `${id} → ${each.id}`),
  );
  return { arrived, undelivered: expected.filter((name) => !arrived.has(name)) };
}
