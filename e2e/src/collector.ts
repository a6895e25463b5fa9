import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { setTimeout as sleep } from 'node:timers/promises';
import { freePorts, ROOT_DIR, startNatsCluster } from '@millrace/engines';
import { serverEnvironment, startServerProcess } from './server-process.ts';
import { WRITE_KEY } from './story.ts';
import type { StoredEvent } from './stored-as-sent.ts';

export type Collector = AsyncDisposable & {
  url: string;
  /** Everything accepted so far, as the streams hold it. */
  storedEvents(): Promise<StoredEvent[]>;
  killAndRestart(): Promise<void>;
};

/** A collector of the test's own on an engine of its own, both gone when the test lets go of it. */
export async function startCollector(): Promise<Collector> {
  await using parts = new AsyncDisposableStack();
  const engine = parts.use(await startNatsCluster({ nodes: 1 }));
  const [port = 0] = await freePorts(1);
  const settings = {
    MILLRACE_NATS_URL: engine.url,
    MILLRACE_ROLES: 'collect',
    MILLRACE_COLLECT_PORT: String(port),
    MILLRACE_EVENT_STREAMS: '2',
  };
  const url = `http://127.0.0.1:${port}`;
  const start = async () => {
    const started = await startServerProcess({ program: 'demo/dev.ts', settings, urls: [url] });
    await untilKeyIsKnown(url);
    return started;
  };
  let server = await start();
  parts.defer(() => server[Symbol.asyncDispose]());
  const kept = parts.move();
  return {
    url,
    storedEvents: () => printEvents(settings),
    async killAndRestart() {
      await server.kill();
      server = await start();
    },
    [Symbol.asyncDispose]: () => kept.disposeAsync(),
  };
}

/** The demo source is made after the server has begun to listen, the first time it starts. */
async function untilKeyIsKnown(url: string): Promise<void> {
  const signal = AbortSignal.timeout(60_000);
  while ((await fetch(`${url}/v1/projects/${WRITE_KEY}/settings`, { signal })).status !== 200) await sleep(20);
}

async function printEvents(settings: Record<string, string>): Promise<StoredEvent[]> {
  const program = join(ROOT_DIR, 'server/src/print-events.ts');
  const env = serverEnvironment(settings);
  const printer = spawn(process.execPath, [program], { env, stdio: ['ignore', 'pipe', 'pipe'] });
  const [[code], lines, errors] = await Promise.all([
    once(printer, 'close'),
    text(printer.stdout),
    text(printer.stderr),
  ]);
  if (code !== 0) throw new Error(`print-events ended with ${code}:\n${errors}`);
  return lines.split('\n').flatMap((line): StoredEvent[] => (line === '' ? [] : [JSON.parse(line)]));
}
