/** The only wiring: opens the engine and plays the roles; letting go stops them in reverse order. */
import { type Collect, serveCollect } from './collect/serve-collect.ts';
import { type Compute, startCompute } from './compute/start-compute.ts';
import type { Config, Role } from './config.ts';
import { startProjector } from './projection/project-config.ts';
import { startAuditWatch } from './record/watch-audit.ts';
import { recordRefusals } from './record/record-refusals.ts';
import { recordSightings } from './record/record-sightings.ts';
import { startRecording } from './record/start-recording.ts';
import { type Control, startControl } from './control/start-control.ts';
import { type Deliver, type DeliverNeeds, startDeliver } from './deliver/start-deliver.ts';
import { RETRY_WINDOW_MS } from './domain/delivery.ts';
import type { Logger } from './log.ts';
import { type Metrics, openMetrics } from './metrics/open-metrics.ts';
import { type MetricsServer, serveMetrics } from './metrics/serve-metrics.ts';
import { type EntrySigner, openEntrySigner } from './secrets/sign-entry.ts';
import type { ConfigView } from './stream/config/config-bucket.ts';
import { openStream, type Stream } from './stream/open-stream.ts';
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

export async function startRoles(config: Config, log: Logger): Promise<Running> {
  await using starting = new AsyncDisposableStack();
  const metrics = openMetrics();
  const life: Life = { doing: 'starting' };
  const watched = starting.use(await playMetrics({ config, metrics, life, log }));
  const { natsUrl, natsFiles, roles, stream: settings } = config;
  const stream = starting.use(
    await openStream({ natsUrl, natsFiles, roles, settings, metrics, log, version: VERSION }),
  );
  const plays = (role: Role) => config.roles.includes(role);
  // One copy of the configuration for all roles of the process.
  const signer = config.control.keys.size === 0 ? undefined : openEntrySigner(config.control.keys);
  const trust = signer && { check: signer.check, mayBeUnsigned: config.mayBeUnsigned };
  const view = plays('collect') || plays('deliver') ? starting.use(await stream.configView(trust)) : undefined;
  const tail = view === undefined ? NO_TAIL : starting.use(stream.tailWriter());
  const tracing = config.isTraced ? openTracing() : NO_TRACING;
  const needs = { config, stream, signer, metrics, tail, tracing, log };
  const deliver = view !== undefined && plays('deliver') ? starting.use(await playDeliver(needs, view)) : undefined;
  const collect = view !== undefined && plays('collect') ? starting.use(await playCollect(needs, view)) : undefined;
  const control = plays('control') ? starting.use(await playControl(needs)) : undefined;
  const compute = plays('compute') ? starting.use(await playCompute(needs)) : undefined;
  const running = starting.move();
  life.doing = 'working';
  life.stream = stream;
  life.view = view;
  life.control = control;
  life.compute = compute;
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
  stream?: Stream;
  view?: ConfigView | undefined;
  control?: Control | undefined;
  compute?: Compute | undefined;
};
type WatchNeeds = { config: Config; metrics: Metrics; life: Life; log: Logger };

/** First to start and last to stop, so that it can be asked all the time. Roles that are open have read the configuration. */
async function playMetrics({ config, metrics, life, log }: WatchNeeds): Promise<MetricsServer> {
  await using starting = new AsyncDisposableStack();
  starting.use(metrics.watchProcess());
  // A load balancer must not take collect away because control cannot use the database.
  const isAlone = config.roles.length === 1;
  const whyNotReady = () => [
    ...(isAlone ? refusalOf(life) : []),
    ...(life.doing === 'working' ? [] : [`this process is ${life.doing}`]),
    ...(life.stream?.isConnected() === false ? ['NATS cannot be reached'] : []),
    ...(life.view?.isSettled() === false ? ['the configuration is not signed by control yet'] : []),
  ];
  const { port } = starting.use(
    await serveMetrics({ settings: config.metrics, metrics, whyNotReady, whatIsMissing: () => refusalOf(life), log }),
  );
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
  stream: Stream;
  /** Undefined without the key ring, so for collect alone. */
  signer: EntrySigner | undefined;
  metrics: Metrics;
  tail: TailWriter;
  tracing: Tracing;
  log: Logger;
};

function playCollect({ config, stream, metrics, tail, tracing, log }: RoleNeeds, view: ConfigView): Promise<Collect> {
  return serveCollect({
    settings: config.collect,
    config: view,
    append: stream.append,
    isEngineAvailable: stream.isAvailable,
    tellSeen: stream.tellSeen,
    tellRefused: stream.tellRefused,
    now: stream.now,
    metrics,
    tail,
    tracing,
    log,
  });
}

async function playDeliver({ config, stream, signer, ...needs }: RoleNeeds, view: ConfigView): Promise<Deliver> {
  await using starting = new AsyncDisposableStack();
  const side = starting.use(await stream.deliverySide());
  const asked: Pick<DeliverNeeds, 'onAsk'> =
    signer === undefined ? {} : { onAsk: (answer) => stream.onAsk(signer, answer) };
  const deliver = starting.use(
    await startDeliver({ settings: config.deliver, config: view, side, ...asked, ...needs }),
  );
  const running = starting.move();
  return { ...deliver, [Symbol.asyncDispose]: () => running.disposeAsync() };
}

async function playControl({ config, stream, signer, metrics, log }: RoleNeeds): Promise<Control> {
  await using starting = new AsyncDisposableStack();
  const configWriter = await stream.configWriter(signer);
  const record = starting.use(await stream.recordSide());
  const side = starting.use(await stream.controlSide());
  const control = starting.use(
    await startControl({
      settings: config.control,
      side,
      project: (store) => startProjector({ store, configWriter, metrics, log }),
      configRoom: configWriter.room,
      laneOf: record.laneOf,
      definitionsChanged: stream.tellDefinitionsChanged,
      lanes: record.lanes,
      // Every process has the same MILLRACE_RETRY_SCALE.
      retryWindowMs: RETRY_WINDOW_MS / config.deliver.retryScale,
      sharesProcess: config.roles.length > 1,
      about: { version: VERSION, roles: config.roles, startedAt: new Date(stream.now()), settings: config.shown },
      metrics,
      tails: starting.use(stream.tails()),
      ...(signer && { asks: starting.use(stream.asks(signer)) }),
      log,
    }),
  );
  starting.use(stream.onSeen(recordSightings({ store: control.store, log })));
  starting.use(stream.onRefused(recordRefusals({ store: control.store, log })));
  starting.use(startRecording({ store: control.store, side: record, settings: config.control.record, metrics, log }));
  starting.use(startAuditWatch({ store: control.store, anchors: record.auditAnchors, metrics, log }));
  const running = starting.move();
  return { ...control, [Symbol.asyncDispose]: () => running.disposeAsync() };
}

async function playCompute({ config, stream, metrics, log }: RoleNeeds): Promise<Compute> {
  await using starting = new AsyncDisposableStack();
  const side = starting.use(await stream.computeSide());
  const { append } = stream;
  const { databaseUrl } = config.control;
  const compute = starting.use(startCompute({ settings: { databaseUrl }, side, append, metrics, log }));
  const running = starting.move();
  return { ...compute, [Symbol.asyncDispose]: () => running.disposeAsync() };
}

/** A second signal ends the process at once: nothing is lost, because nothing is acknowledged before it is stored. */
export function nextStopSignal(): Promise<NodeJS.Signals> {
  return new Promise((resolve) => {
    for (const signal of ['SIGTERM', 'SIGINT'] as const) process.once(signal, resolve);
  });
}
