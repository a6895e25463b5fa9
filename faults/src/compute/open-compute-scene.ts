import { randomBytes } from 'node:crypto';
import { join } from 'node:path';
import { type NatsCluster, startNatsCluster } from '@millrace/engines';
import { openStore, type Store } from '../../../server/src/store/open-store.ts';
import { addDefinition } from '../../../server/testing/definitions.ts';
import { type ControlClient, controlClient } from '../control-client.ts';
import { KEY } from '../deliver/plan-workspaces.ts';
import { isProjected } from '../deliver/open-recorder-scene.ts';
import { type EngineView, viewEngine } from '../engine-view.ts';
import { controlPortIn } from '../open-control-scene.ts';
import { EVENT_STREAM_NAMES, settingsFor } from '../open-scene.ts';
import type { FaultRun } from '../run-fault.ts';
import { seededRandom } from '../seeded-random.ts';
import { type ServerProcess, serverProcess, type Settings } from '../server-process.ts';
import { type Database, startDatabase } from '../start-database.ts';
import { waitUntil } from '../wait-until.ts';
import { DEFINITIONS } from './audience-plan.ts';
import { type IdentifyReceiver, openIdentifyReceiver } from './identify-receiver.ts';

export type ComputeScene = AsyncDisposable & {
  cluster: NatsCluster;
  engine: EngineView;
  database: Database;
  store: Store;
  /** Collects, delivers and controls: no fault touches it. */
  main: ServerProcess;
  computes: [ServerProcess, ...ServerProcess[]];
  receiver: IdentifyReceiver;
  /** Of the source whose calls are folded. */
  writeKey: string;
  /** Keys of definitions by their numbers. */
  keys: ReadonlyMap<number, string>;
};

export type ComputeSceneShape = {
  nodes: 1 | 3;
  computes: number;
  maxFileStoreMb?: number;
  /** Where the data of PostgreSQL is. */
  databaseDir?: string | undefined;
};

const WITHIN_MS = 30_000;
/** So that a small disk is not full of it. */
const DATABASE_OPTIONS = '-c max_wal_size=64MB -c min_wal_size=32MB';

/** Real servers, a process of all other roles, compute processes, and a webhook that hears of changes only. */
export async function openComputeScene(run: FaultRun, shape: ComputeSceneShape): Promise<ComputeScene> {
  await using parts = new AsyncDisposableStack();
  const { nodes, maxFileStoreMb = 4_096, databaseDir } = shape;
  const cluster = parts.use(await startNatsCluster({ nodes, dir: run.dir, maxFileStoreMb }));
  const place = databaseDir === undefined ? {} : { dir: databaseDir };
  const database = parts.use(await startDatabase({ ...place, options: DATABASE_OPTIONS }));
  const receiver = parts.use(await openIdentifyReceiver(seededRandom(run.seed + 2)));
  const token = randomBytes(24).toString('hex');
  const settings = { ...settingsFor(cluster.url, nodes), ...ownSettings(database, token) };
  const main = parts.use(await serverProcess(settings, join(run.dir, 'main.log')));
  const control = controlClient(`http://127.0.0.1:${controlPortIn(await main.start())}`, token);
  const store = parts.use(await openStore(database.serviceUrl));
  const writeKey = await enterSources(control, receiver.url);
  const keys = await enterDefinitions(store);
  await waitUntil('the configuration is projected', WITHIN_MS, () => isProjected(store));
  const computes: ServerProcess[] = [];
  for (let nth = 0; nth < shape.computes; nth += 1) {
    const own = { ...settings, MILLRACE_ROLES: 'compute' };
    computes.push(parts.use(await serverProcess(own, join(run.dir, `compute-${nth}.log`))));
  }
  await Promise.all(computes.map((each) => each.start()));
  const [first, ...others] = computes;
  if (first === undefined) throw new Error('a scene needs a process that computes');
  await waitUntil('both streams are read', WITHIN_MS, async () => (await positionsOf(store)).length === 2);
  const engine = viewEngine(cluster, EVENT_STREAM_NAMES);
  const open = parts.move();
  const [facts, dispose] = [{ cluster, engine, database, store, main, receiver, writeKey, keys }, open];
  return { ...facts, computes: [first, ...others], [Symbol.asyncDispose]: () => dispose.disposeAsync() };
}

function ownSettings({ url, serviceUrl }: Database, token: string): Settings {
  return {
    MILLRACE_ROLES: 'collect,control,deliver',
    MILLRACE_DATABASE_URL: serviceUrl,
    MILLRACE_MIGRATION_DATABASE_URL: url,
    MILLRACE_BOOTSTRAP_TOKEN: token,
    MILLRACE_CONTROL_PORT: '0',
    MILLRACE_KEYS: `1:${KEY.toString('base64')}`,
    MILLRACE_ALLOW_CIDRS: '127.0.0.0/8',
    MILLRACE_RETRY_SCALE: '10',
  };
}

/** The webhook belongs to a source without calls, so only computed calls reach it. */
async function enterSources(control: ControlClient, url: string): Promise<string> {
  const { source: shop } = await control.createSource('Shop');
  const { source: quiet } = await control.createSource('Audiences');
  const settings = { targets: [{ url }] };
  const asked = { sourceId: quiet.id, catalog: 'Webhooks', name: 'Audiences', enabled: true, settings };
  const { status, body } = await control.ask('POST', '/api/v1/destinations', asked);
  if (body.id === undefined) throw new Error(`a new destination was answered ${status} ${body.code ?? ''}`);
  return shop.writeKey;
}

type Workspace = { workspace_id: string; id: string };

async function enterDefinitions(store: Store): Promise<Map<number, string>> {
  const [row] = await store.asSystem((tx) => tx.query<Workspace>('SELECT workspace_id, id FROM destinations'));
  if (row === undefined) throw new Error('there is no destination');
  const ids = new Map<string, string>();
  for (const [key, of] of DEFINITIONS) {
    const definition = of((other) => ids.get(other) ?? '');
    const added = { workspaceId: row.workspace_id, key, destinations: [row.id], definition };
    ids.set(key, await addDefinition(store, added));
  }
  const sql = 'SELECT number, key FROM definitions';
  const rows = await store.asSystem((tx) => tx.query<{ number: number; key: string }>(sql));
  return new Map(rows.map(({ number, key }) => [number, key]));
}

export type PositionRow = { stream: string; holder: string | null; epoch: number; sequence: number };

/** Of the streams that have been read. */
export function positionsOf(store: Store): Promise<PositionRow[]> {
  const sql = `SELECT stream, holder, epoch::float8 AS epoch, sequence::float8 AS sequence FROM compute_positions
    WHERE stream LIKE 'EVENTS-%' AND sequence IS NOT NULL ORDER BY stream`;
  return store.asSystem((tx) => tx.query<PositionRow>(sql));
}
