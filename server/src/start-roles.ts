/** The only wiring: opens the engine and plays the roles; letting go stops the roles at the same time, then the engine. */
import { type Collect, serveCollect } from './collect/serve-collect.ts';
import { type Compute, startCompute } from './compute/start-compute.ts';
import type { Config, Role } from './config.ts';
import { startProjector } from './projection/project-config.ts';
import { startAuditWatch } from './record/watch-audit.ts';
import { recordRefusals } from './record/record-refusals.ts';
import { recordSightings } from './record/record-sightings.ts';
import { shareRecording } from './record/record-streams.ts';
import { startRecording } from './record/start-recording.ts';
import { type Control, startControl } from './control/start-control.ts';
import { type Deliver, type DeliverNeeds, startDeliver } from './deliver/start-deliver.ts';
import { RETRY_WINDOW_MS } from './domain/delivery.ts';
import type { Logger } from './log.ts';
import { type Metrics, openMetrics } from './metrics/open-metrics.ts';
import { type MetricsServer, type Readiness, serveMetrics } from './metrics/serve-metrics.ts';
import { openRoleSet, type RoleSet } from './processes/open-role-set.ts';
import { type EntrySigner, openEntrySigner } from './secrets/sign-entry.ts';
import { type Cells, isAnyConnected, openCells, openCollectCells } from './cells/open-cells.ts';
import { openComputeCells, openControlCells } from './cells/open-control-cells.ts';
import { CONFIG_ROLES, type ConfigTrust, type ConfigView } from './stream/config/config-bucket.ts';
import type { Stream } from './stream/open-stream.ts';
import { NO_TAIL, type TailWriter } from './stream/signals/tail-writer.ts';
import { VERSION } from './version.ts';
import { NO_TRACING, openTracing, type Tracing } from './tracing/open-tracing.ts';

export type Running = AsyncDisposable & {
  stream: Stream;
  /** The copy that collect and deliver act on. */
  view: ConfigView | undefined;
  collectPort: number | undefined;
  metricsPort: number | undefined;
  deliver: Deliver | undefined;
  control: Control | undefined;
};

type StartOptions = {
  /** Makes metrics and readiness known; a child of a supervisor has another way than a port of its own. */
  serve?: typeof serveMetrics | undefined;
  /** For a caller that may have to stop the roles before all of them have started. */
  roles?: RoleSet;
  /** Collect and deliver have started. */
  serving?: (() => void) | undefined;
};

export async function startRoles(
  config: Config,
  log: Logger,
  { serve = serveMetrics, roles = openRoleSet(), serving }: StartOptions = {},
): Promise<Running> {
  await using starting = new AsyncDisposableStack();
  const metrics = openMetrics();
  const life: Life = { doing: 'starting' };
  const watched = starting.use(await playMetrics({ config, metrics, life, serve, log }));
  const cells = starting.use(await openCells({ config, metrics, log }));
  const { stream } = cells.home;
  const plays = (role: Role) => config.roles.includes(role);
  // One copy of the configuration for all roles of the process, with what they need.
  const signer = config.control.keys.size === 0 ? undefined : openEntrySigner(config.control.keys);
  const trust = signer && { check: signer.check, mayBeUnsigned: config.mayBeUnsigned };
  const readers = CONFIG_ROLES.filter(plays);
  const view = readers.length > 0 ? starting.use(await stream.configView(trust, readers)) : undefined;
  const tail = view === undefined ? NO_TAIL : starting.use(stream.tailWriter());
  const tracing = config.isTraced ? openTracing() : NO_TRACING;
  const needs = { config, cells, stream, signer, trust, metrics, tail, tracing, log };
  starting.defer(roles.stop);
  const { deliver, collect, control, compute } = await playRoles(needs, view, { roles, serving });
  const running = starting.move();
  const isConnected = () => isAnyConnected(cells, plays('collect'));
  Object.assign(life, { doing: 'working', isConnected, view, control, compute } satisfies Life);
  log.info({ roles: config.roles }, 'server.started');
  return {
    stream,
    view,
    collectPort: collect?.port,
    metricsPort: watched.port,
    deliver,
    control,
    [Symbol.asyncDispose]() {
      life.doing = 'shutting down';
      return running.disposeAsync();
    },
  };
}

type Life = {
  doing: 'starting' | 'working' | 'shutting down';
  isConnected?(): boolean;
  view?: ConfigView | undefined;
  control?: Control | undefined;
  compute?: Compute | undefined;
};
type WatchNeeds = { config: Config; metrics: Metrics; life: Life; serve: typeof serveMetrics; log: Logger };

/** First to start and last to stop, so that it can be asked all the time. Roles that are open have read the configuration. */
async function playMetrics({ config, metrics, life, serve, log }: WatchNeeds): Promise<MetricsServer> {
  await using starting = new AsyncDisposableStack();
  starting.use(metrics.watchProcess());
  // A load balancer must not take collect away because control cannot use the database.
  const isAlone = config.roles.length === 1;
  const look = (): Readiness => ({
    reasons: [
      ...(isAlone ? refusalOf(life) : []),
      ...(life.doing === 'working' ? [] : [`this process is ${life.doing}`]),
      ...(life.isConnected?.() === false ? ['NATS cannot be reached'] : []),
      ...(life.view?.isSettled() === false ? ['the configuration is not signed by control yet'] : []),
    ],
    missing: refusalOf(life),
  });
  const { port } = starting.use(await serve({ settings: config.metrics, metrics, look, log }));
  const running = starting.move();
  return { port, [Symbol.asyncDispose]: () => running.disposeAsync() };
}

function refusalOf({ control, compute }: Life): string[] {
  const refusals = { control: control?.refusal(), compute: compute?.refusal() };
  return Object.entries(refusals).flatMap(([role, why]) =>
    why === undefined ? [] : [`${role} does not use the database: ${why}`],
  );
}

type RoleNeeds = {
  config: Config;
  cells: Cells;
  /** Of the home cell. */
  stream: Stream;
  /** Undefined without the key ring, so for collect alone. */
  signer: EntrySigner | undefined;
  trust: ConfigTrust | undefined;
  metrics: Metrics;
  tail: TailWriter;
  tracing: Tracing;
  log: Logger;
};

type Playing = { roles: RoleSet; serving: StartOptions['serving'] };

/** Collect and deliver come first: they do not wait for the database. */
async function playRoles(needs: RoleNeeds, view: ConfigView | undefined, { roles, serving }: Playing) {
  const { enter } = roles;
  const plays = (role: Role) => needs.config.roles.includes(role);
  const deliver = view && plays('deliver') ? await enter('deliver', playDeliver(needs, view)) : undefined;
  const collect = view && plays('collect') ? await enter('collect', playCollect(needs, view)) : undefined;
  serving?.();
  const control = plays('control') ? await enter('control', playControl(needs)) : undefined;
  const compute = plays('compute') ? await enter('compute', playCompute(needs)) : undefined;
  return { deliver, collect, control, compute };
}

async function playCollect({ config, cells, trust, ...needs }: RoleNeeds, view: ConfigView): Promise<Collect> {
  await using starting = new AsyncDisposableStack();
  const { stream, metrics, tail, tracing, log } = needs;
  const { followed, append, isAvailable, tellSeen, tellRefused } = openCollectCells(cells, { ...needs, view, trust });
  starting.use(followed);
  const collect = starting.use(
    await serveCollect({
      settings: config.collect,
      config: followed.config,
      append,
      isEngineAvailable: isAvailable,
      tellSeen,
      tellRefused,
      now: stream.now,
      metrics,
      tail,
      tracing,
      log,
    }),
  );
  const running = starting.move();
  return { ...collect, [Symbol.asyncDispose]: () => running.disposeAsync() };
}

async function playDeliver({ config, cells, stream, signer, ...needs }: RoleNeeds, view: ConfigView): Promise<Deliver> {
  await using starting = new AsyncDisposableStack();
  const side = starting.use(await stream.deliverySide());
  const settings = { ...config.deliver, ...(config.cells.length > 1 && { cell: cells.home.name }) };
  const asked: Pick<DeliverNeeds, 'onAsk'> =
    signer === undefined ? {} : { onAsk: (answer) => stream.onAsk(signer, answer) };
  const deliver = starting.use(await startDeliver({ settings, config: view, side, ...asked, ...needs }));
  const running = starting.move();
  return { ...deliver, [Symbol.asyncDispose]: () => running.disposeAsync() };
}

async function playControl({ config, cells, stream, signer, metrics, log }: RoleNeeds): Promise<Control> {
  await using starting = new AsyncDisposableStack();
  const configWriter = await stream.configWriter(signer);
  const main = {
    record: starting.use(await stream.recordSide()),
    side: starting.use(await stream.controlSide()),
    tails: starting.use(stream.tails()),
    asks: signer && starting.use(stream.asks(signer)),
  };
  const all = openControlCells(main, cells.links, metrics);
  const { record, side, tails, asks } = all;
  const control = starting.use(
    await startControl({
      settings: { ...config.control, cells: config.cells },
      side,
      project: (store) =>
        all.project(startProjector({ store, configWriter, arrived: all.arrived, metrics, log }), store),
      configRoom: configWriter.room,
      laneOf: record.laneOf,
      definitionsChanged: stream.tellDefinitionsChanged,
      lanes: record.lanes,
      // Every process has the same MILLRACE_RETRY_SCALE.
      retryWindowMs: RETRY_WINDOW_MS / config.deliver.retryScale,
      sharesProcess: config.roles.length > 1,
      about: { version: VERSION, roles: config.roles, startedAt: new Date(stream.now()), settings: config.shown },
      metrics,
      tails,
      ...(asks && { asks }),
      log,
    }),
  );
  starting.use(stream.onSeen(recordSightings({ store: control.store, log })));
  starting.use(stream.onRefused(recordRefusals({ store: control.store, log })));
  const shared = shareRecording(config.cells.length);
  const recording = { store: control.store, settings: config.control.record, shared, log };
  starting.use(startRecording({ ...recording, side: main.record, lanes: record.lanes, metrics }));
  starting.use(all.start({ ...recording, signer }));
  starting.use(startAuditWatch({ store: control.store, anchors: record.auditAnchors, metrics, log }));
  const running = starting.move();
  return { ...control, [Symbol.asyncDispose]: () => running.disposeAsync() };
}

async function playCompute({ config, cells, stream, metrics, log }: RoleNeeds): Promise<Compute> {
  await using starting = new AsyncDisposableStack();
  const main = starting.use(await stream.computeSide());
  const { side } = starting.use(openComputeCells(main, cells.links));
  const { append } = stream;
  const { databaseUrl } = config.control;
  const compute = starting.use(startCompute({ settings: { databaseUrl }, side, append, metrics, log }));
  const running = starting.move();
  return { ...compute, [Symbol.asyncDispose]: () => running.disposeAsync() };
}
