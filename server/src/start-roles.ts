/** The only wiring: opens the engine and plays the roles; letting go stops them in reverse order. */
import { serveCollect } from './collect/serve-collect.ts';
import type { Config } from './config.ts';
import { startProjector } from './control/project-config.ts';
import { recordSightings } from './control/record-sightings.ts';
import { type Control, startControl } from './control/start-control.ts';
import type { Logger } from './log.ts';
import { openStream, type Stream } from './stream/open-stream.ts';

export type Running = AsyncDisposable & {
  stream: Stream;
  collectPort: number | undefined;
  control: Control | undefined;
};

export async function startRoles(config: Config, log: Logger): Promise<Running> {
  await using starting = new AsyncDisposableStack();
  const stream = starting.use(await openStream({ natsUrl: config.natsUrl, settings: config.stream, log }));
  const collect = config.roles.includes('collect') ? starting.use(await startCollect(config, stream, log)) : undefined;
  const control = config.roles.includes('control') ? starting.use(await playControl(config, stream, log)) : undefined;
  const running = starting.move();
  log.info({ roles: config.roles }, 'server.started');
  return {
    stream,
    collectPort: collect?.port,
    control,
    [Symbol.asyncDispose]: () => running.disposeAsync(),
  };
}

async function startCollect(config: Config, stream: Stream, log: Logger): Promise<AsyncDisposable & { port: number }> {
  await using starting = new AsyncDisposableStack();
  const view = starting.use(await stream.configView());
  const { port } = starting.use(
    await serveCollect({
      settings: config.collect,
      config: view,
      append: stream.append,
      isEngineAvailable: stream.isAvailable,
      tellSeen: stream.tellSeen,
      log,
    }),
  );
  const running = starting.move();
  return { port, [Symbol.asyncDispose]: () => running.disposeAsync() };
}

async function playControl(config: Config, stream: Stream, log: Logger): Promise<Control> {
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
