import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { ROOT_DIR } from '@millrace/engines';

export type ServerStart = {
  /** A file of server/src. */
  program: 'demo/dev.ts' | 'main.ts';
  args?: readonly string[];
  settings: Record<string, string>;
  /** The addresses that must answer `/readyz` with 200. */
  urls: string[];
};

const READY_WITHIN_MS = 60_000;

export type ServerProcess = AsyncDisposable & {
  /** As a crash would end it. */
  kill(): Promise<void>;
  /** Everything that it has printed and logged so far. */
  said(): string;
};

/**
 * The command that plays `millrace start` in the stories, its words separated by spaces: the sources when it is not set. CI tells the
 * same stories to the packed bundle and to the image.
 */
const START_COMMAND = process.env['E2E_START_COMMAND']?.split(' ').filter((word) => word !== '');

function commandOf(program: ServerStart['program'], args: readonly string[]): [string, ...string[]] {
  const [named, ...rest] = program === 'main.ts' ? (START_COMMAND ?? []) : [];
  if (named !== undefined) return [named, ...rest, ...args];
  return [process.execPath, join(ROOT_DIR, 'server/src', program), ...args];
}

/** The server as a process of its own; resolves when it can do its work. */
export async function startServerProcess({ program, args = [], settings, urls }: ServerStart): Promise<ServerProcess> {
  await using starting = new AsyncDisposableStack();
  const [command, ...words] = commandOf(program, args);
  const server = spawn(command, words, {
    env: serverEnvironment(settings),
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  const stopWithUs = () => server.kill('SIGKILL');
  process.once('exit', stopWithUs);
  starting.defer(async () => {
    await stop(server);
    process.removeListener('exit', stopWithUs);
  });
  let said = '';
  server.stdout?.on('data', (chunk) => (said += String(chunk)));
  server.stderr?.on('data', (chunk) => (said += String(chunk)));
  await ready(urls, server, () => said);
  const started = starting.move();
  return {
    said: () => said,
    async kill() {
      const gone = once(server, 'exit');
      server.kill('SIGKILL');
      await gone;
    },
    [Symbol.asyncDispose]: () => started.disposeAsync(),
  };
}

/** Without settings that a shell was given for another engine: they would not fit this one. */
export function serverEnvironment(settings: Record<string, string>): NodeJS.ProcessEnv {
  const others = Object.entries(process.env).filter(([name]) => !name.startsWith('MILLRACE_'));
  return { ...Object.fromEntries(others), MILLRACE_PROCESSES: '1', ...settings };
}

/** Also fails at once when the server ends instead of becoming ready, with what it said. */
async function ready(urls: string[], server: ChildProcess, said: () => string): Promise<void> {
  const giveUpAt = Date.now() + READY_WITHIN_MS;
  while (isRunning(server) && Date.now() < giveUpAt) {
    const answers = await Promise.all(urls.map((url) => fetch(`${url}/readyz`).catch(() => undefined)));
    if (answers.every((answer) => answer?.status === 200)) return;
    await sleep(50);
  }
  throw new Error(`the server did not become ready; it said:\n${said()}`);
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
