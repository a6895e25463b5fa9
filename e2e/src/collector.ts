import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { setTimeout as sleep } from 'node:timers/promises';
import { freePorts, ROOT_DIR, startNatsCluster } from '@millrace/engines';
import type { StoredEvent } from './stored-as-sent.ts';

const READY_WITHIN_MS = 30_000;

export type Collector = AsyncDisposable & {
  url: string;
  /** Everything accepted so far, as the streams hold it. */
  storedEvents(): Promise<StoredEvent[]>;
};

/** A collector of the test's own on an engine of its own, both gone when the test lets go of it. */
export async function startCollector(): Promise<Collector> {
  await using parts = new AsyncDisposableStack();
  const engine = parts.use(await startNatsCluster({ nodes: 1 }));
  const [port = 0] = await freePorts(1);
  const env = {
    ...otherEnvironment(),
    MILLRACE_NATS_URL: engine.url,
    MILLRACE_ROLES: 'collect',
    MILLRACE_COLLECT_PORT: String(port),
    MILLRACE_EVENT_STREAMS: '2',
  };
  const server = spawn(process.execPath, [join(ROOT_DIR, 'server/src/dev.ts')], {
    env,
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  const stopWithUs = () => server.kill('SIGKILL');
  process.once('exit', stopWithUs);
  parts.defer(async () => {
    await stop(server);
    process.removeListener('exit', stopWithUs);
  });
  const url = `http://127.0.0.1:${port}`;
  await ready(url, server);
  const kept = parts.move();
  return {
    url,
    storedEvents: () => printEvents(env),
    [Symbol.asyncDispose]: () => kept.disposeAsync(),
  };
}

/** Without settings of ours: those a shell was given for another engine would not fit this one. */
function otherEnvironment(): NodeJS.ProcessEnv {
  return Object.fromEntries(Object.entries(process.env).filter(([name]) => !name.startsWith('MILLRACE_')));
}

/** Also fails at once when the server ends instead of becoming ready, with what it said. */
async function ready(url: string, server: ChildProcess): Promise<void> {
  let said = '';
  server.stdout?.on('data', (chunk) => (said += String(chunk)));
  server.stderr?.on('data', (chunk) => (said += String(chunk)));
  const giveUpAt = Date.now() + READY_WITHIN_MS;
  while (isRunning(server) && Date.now() < giveUpAt) {
    const answer = await fetch(`${url}/readyz`).catch(() => undefined);
    if (answer?.status === 200) return;
    await sleep(50);
  }
  throw new Error(`the collector did not become ready; it said:\n${said}`);
}

async function stop(server: ChildProcess): Promise<void> {
  if (!isRunning(server)) return;
  const gone = once(server, 'exit');
  server.kill('SIGTERM');
  const patience = setTimeout(() => server.kill('SIGKILL'), 10_000);
  await gone;
  clearTimeout(patience);
}

function isRunning({ exitCode, signalCode }: ChildProcess): boolean {
  return exitCode === null && signalCode === null;
}

async function printEvents(env: NodeJS.ProcessEnv): Promise<StoredEvent[]> {
  const program = join(ROOT_DIR, 'server/src/print-events.ts');
  const printer = spawn(process.execPath, [program], { env, stdio: ['ignore', 'pipe', 'pipe'] });
  const [[code], lines, errors] = await Promise.all([
    once(printer, 'close'),
    text(printer.stdout),
    text(printer.stderr),
  ]);
  if (code !== 0) throw new Error(`print-events ended with ${code}:\n${errors}`);
  return lines.split('\n').flatMap((line): StoredEvent[] => (line === '' ? [] : [JSON.parse(line)]));
}
