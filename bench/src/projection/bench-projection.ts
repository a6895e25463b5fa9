import { spawnSync } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { join } from 'node:path';
import { CATALOG } from '@millrace/contract/control';
import { startNatsCluster, startPostgresServer } from '@millrace/engines';
import { projectChanges } from '../../../server/src/projection/project-changes.ts';
import { repairConfig } from '../../../server/src/projection/repair-config.ts';
import { openKeyRing } from '../../../server/src/secrets/seal.ts';
import { openLog } from '../../../server/src/log.ts';
import { migrateDatabase } from '../../../server/src/store/migrate-database.ts';
import { openStore } from '../../../server/src/store/open-store.ts';
import { openStream } from '../../../server/src/stream/open-stream.ts';
import type { Verdict } from '../run.ts';
import { loadConfig, type Size } from './load-config.ts';
import { timeLists } from './time-lists.ts';
import { timeOneChange } from './time-one-change.ts';
import { STREAM_SETTINGS } from '../stream-settings.ts';

const FULL: Size = { sources: 10_000, destinationsPerSource: 10 };
const QUICK: Size = { sources: 500, destinationsPerSource: 10 };
const GOALS = { projectionSeconds: 60, viewSeconds: 10, changeMs: 1_000, listP95Ms: 100 };
const WORKSPACE = 'ws_bench';

export type Scene = Awaited<ReturnType<typeof openScene>>;

/** A large configuration from PostgreSQL to the config bucket and from there to a process that starts. */
export async function benchProjection({ isQuick }: { isQuick: boolean }): Promise<Verdict> {
  const size = isQuick ? QUICK : FULL;
  await using scene = await openScene();
  const { result: sourceIds, seconds: loadSeconds } = await timed(() => loadConfig(size, scene));
  console.log(`loaded in ${loadSeconds} s`);
  const { result: differences, seconds: projectionSeconds } = await timed(() => projectAll(scene));
  console.log(`projected ${differences} entries in ${projectionSeconds} s`);
  const { result: left, seconds: comparisonSeconds } = await timed(() => repairConfig(scene));
  const view = readView(scene.natsUrl, sourceIds[0] ?? '');
  const change = await timeOneChange(scene, sourceIds);
  const lists = await timeLists(scene, sourceIds);
  const isGood =
    left === 0 &&
    differences === size.sources * (1 + size.destinationsPerSource) &&
    projectionSeconds < GOALS.projectionSeconds &&
    view.readySeconds < GOALS.viewSeconds &&
    view.destinations === size.destinationsPerSource &&
    change.mostMs < GOALS.changeMs &&
    Object.values(lists).every(({ p95Ms }) => p95Ms < GOALS.listP95Ms);
  const figures = {
    bench: 'projection',
    goals: GOALS,
    size,
    projectionSeconds,
    comparisonSeconds,
    left,
    view,
    change,
    lists,
  };
  return { isGood, figures };
}

async function openScene() {
  await using opening = new AsyncDisposableStack();
  const log = openLog({ level: 'error', pretty: false });
  const postgres = opening.use(await startPostgresServer());
  const cluster = opening.use(await startNatsCluster({ maxFileStoreMb: 20_000 }));
  await migrateDatabase(postgres.url);
  const store = opening.use(await openStore(postgres.serviceUrl));
  const stream = opening.use(await openStream({ natsUrl: cluster.url, settings: STREAM_SETTINGS, log }));
  const configWriter = await stream.configWriter();
  const keyRing = openKeyRing(new Map([[1, randomBytes(32)]]));
  const opened = opening.move();
  const dispose = () => opened.disposeAsync();
  const made = { log, store, stream, configWriter, keyRing, catalog: CATALOG, workspaceId: WORKSPACE };
  return { ...made, natsUrl: cluster.url, [Symbol.asyncDispose]: dispose };
}

/** The work of the projector at its first start, without the pauses. */
async function projectAll(scene: Scene): Promise<number> {
  const differences = await repairConfig(scene);
  while ((await projectChanges(scene)) !== 'done');
  return differences;
}

type ViewFigures = { readySeconds: number; destinations: number; emptyRssMb: number; rssMb: number };

function readView(natsUrl: string, sourceId: string): ViewFigures {
  const program = join(import.meta.dirname, 'read-view.ts');
  const done = spawnSync(process.execPath, ['--expose-gc', program, natsUrl, sourceId], { encoding: 'utf8' });
  if (done.status !== 0) throw new Error(done.stderr);
  return JSON.parse(done.stdout);
}

async function timed<T>(work: () => Promise<T>): Promise<{ result: T; seconds: number }> {
  const startedAt = performance.now();
  const result = await work();
  return { result, seconds: Math.round(performance.now() - startedAt) / 1_000 };
}
