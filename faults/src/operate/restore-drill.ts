import { randomBytes } from 'node:crypto';
import { rmSync } from 'node:fs';
import { join } from 'node:path';
import { openStore } from '../../../server/src/store/open-store.ts';
import { trueOnes } from '../complaints.ts';
import { controlClient } from '../control-client.ts';
import { enterPlan } from '../deliver/enter-plan.ts';
import { type DeliverScene, type EnterNeeds, openDeliverScene } from '../deliver/open-deliver-scene.ts';
import { planWorkspaces } from '../deliver/plan-workspaces.ts';
import { isProjected } from '../deliver/open-recorder-scene.ts';
import { controlPortIn } from '../open-control-scene.ts';
import type { SentCall } from '../oracle.ts';
import { readStored } from '../read-stored.ts';
import type { FaultRun, Findings } from '../run-fault.ts';
import { type ServerProcess, serverProcess, type Settings } from '../server-process.ts';
import { type Database, startDatabase } from '../start-database.ts';
import { spend, waitUntil } from '../wait-until.ts';
import { runCommand } from './run-command.ts';

const PROJECTED_WITHIN_MS = 60_000;
const DRAINED_WITHIN_MS = 240_000;

/**
 * A backup under load on three servers; then every process dies, every engine too, and their folders are removed. Everything that was
 * acknowledged before the backup's point has to be there after the restore, and to arrive.
 */
export async function drillRestore(run: FaultRun): Promise<Findings> {
  await using parts = new AsyncDisposableStack();
  const database = await startDatabase();
  await using _ = database;
  const token = randomBytes(24).toString('hex');
  const installed: { control?: ServerProcess } = {};
  const plan = planWorkspaces({ name: 'drill', workspaces: 1, sourcesEach: 3, destinationsPerSource: 2 });
  const scene = parts.use(
    await openDeliverScene(run, {
      nodes: 3,
      plan,
      // Enough of them fail for lanes and tickets to be in the backup.
      behaviour: { status: 200, failing: 0.2 },
      retryScale: 20,
      roles: ['collect', 'deliver'],
      async enter({ port, settings }: EnterNeeds) {
        const control = parts.use(
          await startControl(run, { ...settings, ...controlSettings(database, token) }, 'control'),
        );
        installed.control = control.process;
        const entered = await enterPlan(controlClient(control.url, token), plan, port);
        await using store = await openStore(database.serviceUrl);
        await waitUntil('the plan is projected', PROJECTED_WITHIN_MS, () => isProjected(store));
        return entered.plan;
      },
    }),
  );
  const load = scene.load({ batchesPerSecond: run.isFull ? 60 : 20, sizes: [5, 5] });
  await spend(run.isFull ? 30_000 : 3_000);
  const dir = join(run.dir, 'backup');
  const asOperator = (engines: Database) => operatorSettings(scene, engines, token);
  const backup = await runCommand<{ point: string }>(['backup', '--to', dir], asOperator(database));
  await spend(run.isFull ? 5_000 : 500);
  await load.stop();
  run.say(`backup as of ${backup.answer.point} in ${backup.seconds} s; now everything is destroyed`);
  await destroy(scene, installed.control, database);
  const destroyedAt = performance.now();
  await using fresh = await startDatabase();
  await Promise.all(scene.cluster.nodes.map((node) => node.start()));
  const restore = await runCommand(['restore', '--from', dir], asOperator(fresh));
  run.say(`restored in ${restore.seconds} s`);
  const again = { ...scene.settings, ...controlSettings(fresh, token) };
  parts.use(await startControl(run, again, 'control-again'));
  await Promise.all([scene.collect, ...scene.delivers].map((process) => process.start()));
  const pointAt = Date.parse(backup.answer.point) - performance.timeOrigin;
  const found = await judgeRestore(scene, { pointAt, destroyedAt });
  return { ...found, figures: { backupSeconds: backup.seconds, restoreSeconds: restore.seconds, ...found.figures } };
}

async function startControl(run: FaultRun, settings: Settings, name: string) {
  const process = await serverProcess(settings, join(run.dir, `${name}.log`));
  const url = `http://127.0.0.1:${controlPortIn(await process.start())}`;
  return { process, url, [Symbol.asyncDispose]: () => process[Symbol.asyncDispose]() };
}

async function destroy(
  { collect, delivers, cluster }: DeliverScene,
  control: ServerProcess | undefined,
  database: Database,
): Promise<void> {
  await Promise.all([collect, ...delivers, control].map((process) => process?.kill('SIGKILL')));
  await Promise.all(cluster.nodes.map((node) => node.kill('SIGKILL')));
  for (const { name } of cluster.nodes) rmSync(join(cluster.dir, name), { recursive: true, force: true });
  await database[Symbol.asyncDispose]();
}

type Times = { pointAt: number; destroyedAt: number };

async function judgeRestore(scene: DeliverScene, { pointAt, destroyedAt }: Times): Promise<Findings> {
  const { oracle, arrivals, plan, settings } = scene;
  const after = scene.load({ batchesPerSecond: 20, sizes: [5, 5], prefix: 'after' });
  await spend(2_000);
  await after.stop();
  const drainedMs = await scene.drained(DRAINED_WITHIN_MS);
  await scene.receivers.heard();
  const stored = new Set((await readStored(settings)).map(({ messageId }) => messageId));
  const isBefore = ({ answered }: SentCall) => answered !== undefined && answered.endedAt < pointAt;
  const isAfter = ({ answered }: SentCall) => answered !== undefined && answered.startedAt > destroyedAt;
  const known = [...oracle.calls];
  const promised = known.filter(([, call]) => isBefore(call) || isAfter(call));
  const missing = promised.map(([id]) => id).filter((id) => !stored.has(id));
  const good = arrivals.filter(({ status }) => status >= 200 && status < 300);
  const arrived = Map.groupBy(good, ({ messageId, destinationId }) => `${messageId} → ${destinationId}`);
  const undelivered = promised.flatMap(([id, { sourceId }]) =>
    plan.destinations
      .filter((each) => each.sourceId === sourceId)
      .map((each) => `${id} → ${each.id}`)
      .filter((name) => !arrived.has(name)),
  );
  const between = known.filter(([, call]) => call.answered !== undefined && !isBefore(call) && !isAfter(call));
  const doubled = [...arrived.values()].filter((all) => all.length > 1);
  const figures = {
    calls: known.length,
    acknowledgedBeforePoint: known.filter(([, call]) => isBefore(call)).length,
    acknowledgedLater: between.length,
    // Expected: the backup does not promise them.
    goneOfThoseLater: between.filter(([id]) => !stored.has(id)).length,
    missing: missing.length,
    undelivered: undelivered.length,
    deliveries: arrived.size,
    doubled: doubled.length,
    doubledByRestore: doubled.filter((all) => all.some(({ at }) => at > destroyedAt)).length,
    drainedMs: Math.round(drainedMs),
  };
  const failures = trueOnes([
    [
      missing.length > 0,
      `${missing.length} calls acknowledged before the point are not restored: ${missing.slice(0, 5).join(', ')}`,
    ],
    [
      undelivered.length > 0,
      `${undelivered.length} of their deliveries never arrived: ${undelivered.slice(0, 5).join(', ')}`,
    ],
  ]);
  return { failures, late: [], figures };
}

function controlSettings({ url, serviceUrl }: Database, token: string): Settings {
  return {
    MILLRACE_ROLES: 'control',
    MILLRACE_CONTROL_PORT: '0',
    MILLRACE_DATABASE_URL: serviceUrl,
    MILLRACE_MIGRATION_DATABASE_URL: url,
    MILLRACE_BOOTSTRAP_TOKEN: token,
  };
}

function operatorSettings({ cluster, settings }: DeliverScene, database: Database, token: string): Settings {
  return { ...settings, ...controlSettings(database, token), MILLRACE_NATS_URL: cluster.adminUrl };
}
