/** Programs that the comparison starts: killed and started again by it, and gone when it ends. */
import { type ChildProcess, execFileSync, spawn } from 'node:child_process';
import { createHash } from 'node:crypto';
import { once } from 'node:events';
import { mkdirSync, openSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { until } from '../../../server/testing/until.ts';

export type Child = AsyncDisposable & {
  pid(): number | undefined;
  start(): Promise<void>;
  /** Resolves when it is gone. */
  kill(): Promise<void>;
};
export type Program = {
  name: string;
  command: string;
  args?: readonly string[];
  env?: Record<string, string>;
  dir: string;
  /** Asked after each start until it is true. */
  isReady(): Promise<boolean>;
};

const START_MS = 90_000;

export function child({ name, command, args = [], env = {}, dir, isReady }: Program): Child {
  mkdirSync(dir, { recursive: true });
  const log = openSync(join(dir, `${name}.log`), 'a');
  let running: ChildProcess | undefined;
  // A group of its own: programs such as rabbitmq-server are scripts that start the real one.
  const killGroup = () => {
    if (running?.pid === undefined) return;
    try {
      process.kill(-running.pid, 'SIGKILL');
    } catch {
      // It has ended by itself.
    }
  };
  process.once('exit', killGroup);
  const kill = async () => {
    if (running === undefined || running.exitCode !== null || running.signalCode !== null) return;
    const gone = once(running, 'exit');
    killGroup();
    await gone;
  };
  return {
    pid: () => running?.pid,
    async start() {
      const stdio: ['ignore', number, number] = ['ignore', log, log];
      running = spawn(command, args, { cwd: dir, env: { ...process.env, ...env }, stdio, detached: true });
      const failed = once(running, 'error').then(([error]) => Promise.reject(error as Error));
      await Promise.race([failed, until(isReady, START_MS, () => `${name} is ready; ${dir}/${name}.log`)]);
    },
    kill,
    async [Symbol.asyncDispose]() {
      await kill();
      process.removeListener('exit', killGroup);
    },
  };
}

export async function answers(url: string): Promise<boolean> {
  const answer = await fetch(url).catch(() => undefined);
  await answer?.arrayBuffer();
  return answer?.ok === true;
}

/** Runs a short command and answers its output. */
export function output(
  command: string,
  args: readonly string[],
  env: Record<string, string> = {},
  cwd?: string,
): string {
  return execFileSync(command, args, {
    encoding: 'utf8',
    env: { ...process.env, ...env },
    cwd,
    stdio: ['ignore', 'pipe', 'pipe'],
  }).trim();
}

/** Programs of peers tell their version in different ways or not at all: the operator names it, and the bytes are told apart by their hash. */
export function programText(variable: string, file: string): string {
  const hash = createHash('sha256').update(readFileSync(file)).digest('hex').slice(0, 12);
  return `${variable}=${file}, version ${process.env[variable.replace(/_BIN$/, '_VERSION')] ?? 'not named'}, sha256 ${hash}`;
}
