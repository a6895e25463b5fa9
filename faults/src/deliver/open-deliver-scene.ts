import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { type NatsCluster, type NetHost, startNatsCluster } from '@millrace/engines';
import { laneStreamName, TICKETS_STREAM } from '../../../server/src/stream/layout/layout.ts';
import { type EngineView, type Leftovers, viewEngine } from '../engine-view.ts';
import { NETWORKS } from '../net/open-network.ts';
import { EVENT_STREAM_NAMES, sayProgress, settingsFor } from '../open-scene.ts';
import { openOracle, type Oracle } from '../oracle.ts';
import type { FaultRun } from '../run-fault.ts';
import { seededRandom } from '../seeded-random.ts';
import { type ServerProcess, serverProcess, type Settings } from '../server-process.ts';
import { writeConfig } from '../sources.ts';
import { type Load, type LoadNeeds, startLoad } from '../start-load.ts';
import { waitUntil } from '../wait-until.ts';
import { markedCall } from './marked-call.ts';
import { configOf, KEY, type Plan } from './plan-workspaces.ts';
import type { Arrival } from './read-arrival.ts';
import type { Behaviour } from './receiver-process.ts';
import { openReceivers, type Receivers } from './receivers.ts';
import { type MachineWatch, watchMachine } from './watch-machine.ts';

export type DeliverSceneShape = {
  nodes: 1 | 3;
  plan: Plan;
  behaviour: Behaviour;
  retryScale: number;
  /** The roles of each process; the first one takes the load. */
  roles: readonly ['collect' | 'collect,deliver', ...'deliver'[]];
  maxFileStoreMb?: number;
  /** How many streams of outcomes there are; one without this. */
  outcomeStreams?: number;
  /** Whether the clock of each process can be set wrong. */
  hasSettableClocks?: boolean;
  /** The program that the process of this number runs, asked at each start of it; ours without this. */
  mainOf?(index: number): string;
  /** Where each part runs, if not all on the usual host. */
  hosts?: SceneHosts | undefined;
  /** Enters the plan, and may change it; without this it is written to the bucket as control would have. */
  enter?(needs: EnterNeeds): Promise<Plan>;
  /** Sees each arrival first; false when it need not be kept. */
  isKept?(arrival: Arrival): boolean;
};

/** A host for each server, for each process in the order of their roles, and for all receivers. */
export type SceneHosts = { nats: readonly NetHost[]; processes: readonly NetHost[]; receivers: NetHost };

/** `port` is that of the receivers; the settings are those of every process. */
export type EnterNeeds = { port: number; settings: Settings };

export type SceneLoad = Pick<LoadNeeds, 'batchesPerSecond' | 'sizes' | 'senders' | 'prefix' | 'inTurn' | 'makeCall'>;

export type DeliverScene = AsyncDisposable & {
  plan: Plan;
  cluster: NatsCluster;
  engine: EngineView;
  receivers: Receivers;
  oracle: Oracle;
  arrivals: readonly Arrival[];
  collect: ServerProcess;
  delivers: ServerProcess[];
  settings: Settings;
  machine: MachineWatch;
  /** Where logs and evidence go. */
  dir: string;
  /** Clients send marked calls from now on. */
  load(load: SceneLoad): Load;
  /** Resolves when nothing waits anywhere, with how long that took; rejects with what is left. */
  drained(withinMs: number): Promise<number>;
  /** Writes down everything that arrived. */
  keepEvidence(verdict: object): void;
};

const STREAM_NAMES: readonly string[] = [...EVENT_STREAM_NAMES, laneStreamName(0), laneStreamName(1), TICKETS_STREAM];

/** Real servers, real processes of ours, real receivers, and no PostgreSQL at all unless the scene's own `enter` brings it. */
export async function openDeliverScene(run: FaultRun, shape: DeliverSceneShape): Promise<DeliverScene> {
  await using parts = new AsyncDisposableStack();
  const { dir } = run;
  const arrivals: Arrival[] = [];
  const receivers = parts.use(await receiversOf(shape, run.seed + 2, arrivals));
  const cluster = parts.use(await clusterOf(shape, dir));
  const settings = { ...settingsFor(cluster.url, shape.nodes), ...deliverSettings(shape) };
  const { enter = (needs: EnterNeeds) => writePlan(shape, cluster, needs) } = shape;
  const plan = await enter({ port: receivers.port, settings });
  const [collect, ...others] = await startProcesses(shape, settings, dir);
  if (collect === undefined) throw new Error('a scene needs a process that collects');
  for (const process of [collect, ...others]) parts.use(process);
  const engine = viewEngine(cluster, STREAM_NAMES);
  const oracle = openOracle();
  const machine = parts.use(watchMachine());
  const open = parts.move();
  const facts = { plan, cluster, engine, receivers, oracle, arrivals, collect, settings, machine, dir };
  return {
    ...facts,
    delivers: shape.roles[0] === 'collect' ? others : [collect, ...others],
    load(asked) {
      const needs = { senders: plan.sources, makeCall: markedCall, ...asked };
      const load = startLoad({ ...needs, url: collect.url, oracle, random: seededRandom(run.seed + 1) });
      open.use(sayProgress(run, oracle, load));
      // A run that breaks off must not leave its clients behind.
      open.defer(load.stop);
      return load;
    },
    drained: (withinMs) => isDrained(engine, withinMs),
    keepEvidence(verdict) {
      writeFileSync(join(dir, 'oracle.json'), JSON.stringify({ verdict, arrivals }));
    },
    [Symbol.asyncDispose]: () => open.disposeAsync(),
  };
}

function clusterOf({ nodes, maxFileStoreMb, hosts }: DeliverSceneShape, dir: string): Promise<NatsCluster> {
  const size = maxFileStoreMb === undefined ? {} : { maxFileStoreMb };
  return startNatsCluster({ nodes, dir, hosts: hosts?.nats, ...size });
}

async function writePlan(
  { plan, nodes }: DeliverSceneShape,
  { url }: NatsCluster,
  { port }: EnterNeeds,
): Promise<Plan> {
  const size = { replicas: nodes, eventStreams: EVENT_STREAM_NAMES.length };
  await writeConfig(url, { ...size, keys: new Map([[1, KEY]]) }, async (writer) => {
    await writer.write(configOf(plan, port));
  });
  return plan;
}

function receiversOf(shape: DeliverSceneShape, seed: number, arrivals: Arrival[]): Promise<Receivers> {
  const noted = (arrival: Arrival) => {
    if (shape.isKept?.(arrival) !== false) arrivals.push(arrival);
  };
  return openReceivers({ ...shape, host: shape.hosts?.receivers, seed, noted });
}

function startProcesses(shape: DeliverSceneShape, settings: Settings, dir: string): Promise<ServerProcess[]> {
  const hasSettableClock = shape.hasSettableClocks ?? false;
  const { mainOf } = shape;
  return Promise.all(
    shape.roles.map(async (role, index) => {
      const logFile = join(dir, `${index}-${role.replace(',', '-')}.log`);
      const options = mainOf === undefined ? {} : { main: () => mainOf(index) };
      const own = { ...settings, MILLRACE_ROLES: role };
      const host = shape.hosts?.processes[index];
      const process = await serverProcess(own, logFile, { hasSettableClock, host, ...options });
      await process.start();
      return process;
    }),
  );
}

function deliverSettings({ retryScale, outcomeStreams = 1 }: DeliverSceneShape): Settings {
  return {
    MILLRACE_KEYS: `1:${KEY.toString('base64')}`,
    MILLRACE_ALLOW_CIDRS: `127.0.0.0/8,${NETWORKS}`,
    MILLRACE_RETRY_SCALE: String(retryScale),
    MILLRACE_OUTCOME_STREAMS: String(outcomeStreams),
    // Says every second how the process is.
    MILLRACE_LOG_LEVEL: 'debug',
  };
}

async function isDrained(engine: EngineView, withinMs: number): Promise<number> {
  let left: Leftovers | undefined;
  const isEmpty = async () => {
    left = await engine.leftovers();
    const { isWhole, ...counts } = left;
    return isWhole && Object.values(counts).every((count) => count === 0);
  };
  return waitUntil('nothing waits anywhere', withinMs, isEmpty).catch((error: unknown) => {
    throw new Error(`still there: ${JSON.stringify(left)}`, { cause: error });
  });
}
