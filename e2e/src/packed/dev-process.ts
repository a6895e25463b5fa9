/** `millrace dev` of an installation, as a process group of its own, so that a signal reaches what Ctrl-C in a terminal reaches. */
import { type ChildProcess, spawn } from 'node:child_process';
import { readdirSync, readFileSync } from 'node:fs';
import { createInterface } from 'node:readline';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Installed } from './install-packed.ts';

export type ReadyLine = {
  ready: boolean;
  collectUrl: string;
  consoleUrl: string;
  token: string;
  writeKey: string;
};

export type DevProcess = AsyncDisposable & {
  ready: ReadyLine;
  /** From the start of the command to the line. */
  readyMs: number;
  /** Everything on standard output so far. */
  lines: string[];
  /** The first pid of the group. */
  pid: number;
  /** To the whole group; resolves with the exit code when the command has ended. */
  stop(signal: NodeJS.Signals): Promise<number | null>;
};

export type Ended = { code: number | null; stdout: string; stderr: string };

/** Starts it with --json and waits for the line. `command` is `npx millrace` unless another is named. */
export async function startDev(
  installed: Installed,
  args: readonly string[],
  command = ['npx', 'millrace'],
): Promise<DevProcess> {
  const startedAt = performance.now();
  const child = spawnDev(installed, [...command, 'dev', '--json', ...args]);
  const stderr = collect(child, 'stderr');
  const lines: string[] = [];
  const exited = new Promise<number | null>((resolve) => child.once('exit', resolve));
  const first = new Promise<string>((resolve) => {
    if (child.stdout === null) return;
    createInterface({ input: child.stdout }).on('line', (line) => {
      lines.push(line);
      resolve(line);
    });
  });
  const line = await Promise.race([first, exited.then(() => undefined)]);
  if (line === undefined) throw new Error(`millrace dev ended instead of becoming ready:\n${stderr()}`);
  const readyMs = performance.now() - startedAt;
  const pid = child.pid ?? 0;
  const stop = async (signal: NodeJS.Signals) => {
    if (groupIsThere(pid)) process.kill(-pid, signal);
    // npx may end before the command that it runs.
    await until('all of the group have ended', () => (groupIsThere(pid) ? undefined : true));
    return exited;
  };
  return {
    ready: JSON.parse(line) as ReadyLine,
    readyMs,
    lines,
    pid,
    stop,
    [Symbol.asyncDispose]: async () => void (await stop('SIGTERM')),
  };
}

/** Runs a command that is expected to end by itself. */
export async function runToEnd(installed: Installed, words: readonly string[], env = {}): Promise<Ended> {
  const child = spawnDev(installed, words, env);
  const [stdout, stderr] = [collect(child, 'stdout'), collect(child, 'stderr')];
  const code = await new Promise<number | null>((resolve) => child.once('close', resolve));
  return { code, stdout: stdout(), stderr: stderr() };
}

/** Runs a command until its standard output has `text`, and stops it as Ctrl-C does. Resolves with all that it has printed. */
export async function untilShown(installed: Installed, words: readonly string[], text: string): Promise<string> {
  const child = spawnDev(installed, words);
  const [stdout, stderr] = [collect(child, 'stdout'), collect(child, 'stderr')];
  const { pid = 0 } = child;
  await until(`${words.join(' ')} shows "${text}"`, () => {
    if (!groupIsThere(pid)) throw new Error(`it ended: ${stderr()}`);
    return stdout().includes(text) || undefined;
  });
  process.kill(-pid, 'SIGINT');
  await until('all of the group have ended', () => (groupIsThere(pid) ? undefined : true));
  return stdout();
}

function spawnDev({ appDir, asUser, env }: Installed, words: readonly string[], more = {}): ChildProcess {
  const [first = '', ...rest] = [...asUser, ...words];
  const child = spawn(first, rest, {
    cwd: appDir,
    env: { ...env, ...more },
    detached: true,
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  const stopWithUs = () => child.kill('SIGKILL');
  process.once('exit', stopWithUs);
  child.once('exit', () => process.removeListener('exit', stopWithUs));
  return child;
}

function collect(child: ChildProcess, name: 'stdout' | 'stderr'): () => string {
  let text = '';
  child[name]?.on('data', (chunk) => (text += String(chunk)));
  return () => text;
}

/** The running processes whose command line names `text`. */
export function processesWith(text: string): string[] {
  return readdirSync('/proc')
    .filter((name) => /^\d+$/.test(name))
    .flatMap((pid) => {
      try {
        const words = readFileSync(`/proc/${pid}/cmdline`, 'utf8').replaceAll('\0', ' ');
        return words.includes(text) ? [`${pid} ${words}`] : [];
      } catch {
        return [];
      }
    });
}

function groupIsThere(pid: number): boolean {
  try {
    return process.kill(-pid, 0);
  } catch {
    return false;
  }
}

const PATIENCE_MS = 120_000;

export async function until<T>(claim: string, look: () => Promise<T | undefined> | T | undefined): Promise<T> {
  const giveUpAt = Date.now() + PATIENCE_MS;
  for (;;) {
    const found = await look();
    if (found !== undefined) return found;
    if (Date.now() > giveUpAt) throw new Error(`waited ${PATIENCE_MS / 1_000} s in vain until ${claim}`);
    await sleep(50);
  }
}
