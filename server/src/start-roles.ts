/** The only wiring: opens the engine and plays the roles; letting go stops them in reverse order. */
import { type Collect, serveCollect } from './collect/serve-collect.ts';
import type { Config, Role } from './config.ts';
import { startProjector } from './control/project-config.ts';
import { recordSightings } from './control/record-sightings.ts';
import { type Control, startControl } from './control/start-control.ts';
import { type Deliver, startDeliver } from './deliver/start-deliver.ts';
import type { Logger } from './log.ts';
import type { ConfigView } from './stream/config-bucket.ts';
import { openStream, type Stream } from './stream/open-stream.ts';

export type Running = AsyncDisposable & {
  stream: Stream;
  collectPort: number | undefined;
  deliver: Deliver | undefined;
  control: Control | undefined;
};

export async function startRoles(config: Config, log: Logger): Promise<Running> {
  await using starting = new AsyncDisposableStack();
  const stream = starting.use(await openStream({ natsUrl: config.natsUrl, settings: config.stream, log }));
  const plays = (role: Role) => config.roles.includes(role);
  // One copy of the configuration for all roles of the process.
  const view = plays('collect') || plays('deliver') ? starting.use(await stream.configView()) : undefined;
  const needs = { config, stream, log };
  const deliver = view !== undefined && plays('deliver') ? starting.use(await playDeliver(needs, view)) : undefined;
  const collect = view !== undefined && plays('collect') ? starting.use(await playCollect(needs, view)) : undefined;
  const control = plays('control') ? starting.use(await playControl(needs)) : undefined;
  const running = starting.move();
  log.info({ roles: config.roles }, 'server.started');
  return {
    stream,
    collectPort: collect?.port,
    deliver,
    control,
    [Symbol.asyncDispose]: () => running.disposeAsync(),
  };
}

type RoleNeeds = { config: Config; stream: Stream; log: Logger };

function playCollect({ config, stream, log }: RoleNeeds, view: ConfigView): Promise<Collect> {
  return serveCollect({
    settings: config.collect,
    config: view,
    append: stream.append,
    isEngineAvailable: stream.isAvailable,
    tellSeen: stream.tellSeen,
    log,
  });
}

async function playDeliver({ config, stream, log }: RoleNeeds, view: ConfigView): Promise<Deliver> {
  await using starting = new AsyncDisposableStack();
  const side = starting.use(await stream.deliverySide());
  const deliver = starting.use(await startDeliver({ settings: config.deliver, config: view, side, log }));
  const running = starting.move();
  return { ...deliver, [Symbol.asyncDispose]: () => running.disposeAsync() };
}

async function playControl({ config, stream, log }: RoleNeeds): Promise<Control> {
  await using starting = new AsyncDisposableStack();
  const configWriter = await stream.configWriter();
  const control = starting.use(
    await startControl({
      settings: config.control,
      project: (store) => startProjector({ store, configWriter, log }),
      log,
    }),
  );
  starting.use(stream.onSeen(recordSightings({ store: control.store, log })));
  const running = starting.move();
  return { ...control, [Symbol.asyncDispose]: () => running.disposeAsync() };
}

/** A second signal ends the process at once: nothing is lost, because nothing is acknowledged before it is stored. */
export function nextStopSignal(): Promise<NodeJS.Signals> {
  return new Promise((resolve) => {
    for (const signal of ['SIGTERM', 'SIGINT'] as const) process.once(signal, resolve);
  });
}
