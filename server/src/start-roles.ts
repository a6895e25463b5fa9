/** The only wiring: opens the engine and plays the roles; letting go stops them in reverse order. */
import { serveCollect } from './collect/serve-collect.ts';
import type { Config } from './config.ts';
import type { Logger } from './log.ts';
import { openStream, type Stream } from './stream/open-stream.ts';

export type Running = AsyncDisposable & { stream: Stream; collectPort: number | undefined };

export async function startRoles(config: Config, log: Logger): Promise<Running> {
  await using starting = new AsyncDisposableStack();
  const stream = starting.use(await openStream({ natsUrl: config.natsUrl, settings: config.stream, log }));
  const collect = config.roles.includes('collect') ? starting.use(await startCollect(config, stream, log)) : undefined;
  const running = starting.move();
  log.info({ roles: config.roles }, 'server.started');
  return { stream, collectPort: collect?.port, [Symbol.asyncDispose]: () => running.disposeAsync() };
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
      log,
    }),
  );
  const running = starting.move();
  return { port, [Symbol.asyncDispose]: () => running.disposeAsync() };
}

/** A second signal ends the process at once: nothing is lost, because nothing is acknowledged before it is stored. */
export function nextStopSignal(): Promise<NodeJS.Signals> {
  return new Promise((resolve) => {
    for (const signal of ['SIGTERM', 'SIGINT'] as const) process.once(signal, resolve);
  });
}
