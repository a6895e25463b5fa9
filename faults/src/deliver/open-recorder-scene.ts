import { randomBytes } from 'node:crypto';
import { join } from 'node:path';
import { LOOPBACK, type NetHost } from '@millrace/engines';
import { openStore, type Store } from '../../../server/src/store/open-store.ts';
import { outcomesStreamName } from '../../../server/src/stream/layout/layout.ts';
import { type ControlClient, controlClient } from '../control-client.ts';
import { controlPortIn } from '../open-control-scene.ts';
import { EVENT_STREAM_NAMES } from '../open-scene.ts';
import type { FaultRun } from '../run-fault.ts';
import { type ServerProcess, serverProcess, type Settings } from '../server-process.ts';
import { type Database, type DatabaseOptions, startDatabase } from '../start-database.ts';
import { waitUntil } from '../wait-until.ts';
import { type EnteredPlan, enterPlan } from './enter-plan.ts';
import {
  type DeliverScene,
  type DeliverSceneShape,
  type EnterNeeds,
  openDeliverScene,
  type SceneHosts,
} from './open-deliver-scene.ts';
import { type Plan, planWorkspaces } from './plan-workspaces.ts';

/** A whole installation: PostgreSQL, a process that records, another that collects and delivers, and receivers. */
export type RecorderScene = AsyncDisposable & {
  scene: DeliverScene;
  database: Database;
  store: Store;
  /** Plays control alone, and so the recorder. */
  control: ServerProcess;
  /** A second one beside it, where the shape asks for it. */
  second: ServerProcess | undefined;
  /** Asks control as its owner. Each start has a port of its own. */
  clientAt(said: string): ControlClient;
  entered: EnteredPlan;
  /** The names of the event streams; a server that is added brings more. */
  events: string[];
  /** The names of the streams of outcomes. */
  outcomes: readonly string[];
};

const SOURCES = 5;
const PROJECTED_WITHIN_MS = 15_000;
/** One answer in twenty is a 500. */
const BEHAVIOUR = { status: 200, failing: 0.05 };

export type RecorderShape = {
  nodes?: 1 | 3;
  outcomeStreams?: number;
  recorders?: 1 | 2;
  /** Where PostgreSQL has its data, and options of its command line. */
  database?: DatabaseOptions;
  /** The roles of each process beside control; one process plays both without this. */
  roles?: DeliverSceneShape['roles'];
  /** Where each part runs, if not all on the usual host. */
  hosts?: RecorderHosts;
};

export type RecorderHosts = SceneHosts & { control: NetHost; database: NetHost };

export async function openRecorderScene(
  run: FaultRun,
  { nodes = 1, outcomeStreams = 1, recorders = 1, hosts, ...more }: RecorderShape = {},
): Promise<RecorderScene> {
  const { roles = ['collect,deliver'] } = more;
  await using parts = new AsyncDisposableStack();
  const database = parts.use(await startDatabase({ ...more.database, host: hosts?.database }));
  const shape = { workspaces: 1, sourcesEach: SOURCES, destinationsPerSource: run.isFull ? 1 : 2 };
  const plan = placedOn(hosts?.receivers, planWorkspaces({ name: 'record', ...shape }));
  const token = randomBytes(24).toString('hex');
  const controlAt = hosts?.control.address ?? LOOPBACK;
  const clientAt = (said: string) => controlClient(`http://${controlAt}:${controlPortIn(said)}`, token);
  const installed: Partial<Pick<RecorderScene, 'control' | 'second' | 'store' | 'entered'>> = {};
  const enter = async ({ port, settings }: EnterNeeds) => {
    const asControl = { ...settings, ...controlSettings(database, token) };
    const on = { host: hosts?.control };
    const control = parts.use(await serverProcess(asControl, join(run.dir, 'control.log'), on));
    const entered = await enterPlan(clientAt(await control.start()), plan, port);
    const store = parts.use(await openStore(database.serviceUrl));
    // The others start only now, so they read all of it at their start.
    await waitUntil('the plan is projected', PROJECTED_WITHIN_MS, () => isProjected(store));
    const another = () => serverProcess(asControl, join(run.dir, 'second.log'), on);
    const second = recorders === 1 ? undefined : parts.use(await another());
    await second?.start();
    Object.assign(installed, { control, second, store, entered });
    return entered.plan;
  };
  const rest = { behaviour: BEHAVIOUR, retryScale: 10, roles, maxFileStoreMb: 20_480, outcomeStreams, hosts };
  const scene = parts.use(await openDeliverScene(run, { nodes, plan, ...rest, enter }));
  const { control, second, store, entered } = installed;
  if (control === undefined || store === undefined || entered === undefined) throw new Error('nothing was entered');
  const open = parts.move();
  const outcomes = Array.from({ length: outcomeStreams }, (_, index) => outcomesStreamName(index));
  const events = [...EVENT_STREAM_NAMES];
  const facts = { scene, database, store, control, second, clientAt, entered, events, outcomes };
  return { ...facts, [Symbol.asyncDispose]: () => open.disposeAsync() };
}

/** All receivers are on that host. */
function placedOn(host: NetHost | undefined, plan: Plan): Plan {
  if (host === undefined) return plan;
  return { ...plan, destinations: plan.destinations.map((destination) => ({ ...destination, host: host.address })) };
}

export function controlSettings({ url, serviceUrl }: Database, token: string): Settings {
  return {
    MILLRACE_ROLES: 'control',
    MILLRACE_DATABASE_URL: serviceUrl,
    MILLRACE_MIGRATION_DATABASE_URL: url,
    MILLRACE_BOOTSTRAP_TOKEN: token,
    MILLRACE_CONTROL_PORT: '0',
    MILLRACE_LOG_LEVEL: 'info',
  };
}

/** Whether the config bucket has everything that the database has. */
export async function isProjected(store: Store): Promise<boolean> {
  const rows = await store.asSystem((tx) =>
    tx.query<{ waiting: number }>('SELECT count(*)::int AS waiting FROM outbox'),
  );
  return rows[0]?.waiting === 0;
}
