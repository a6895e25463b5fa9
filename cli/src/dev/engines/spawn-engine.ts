/**
 * An engine as a child process. It is detached: Ctrl-C in a terminal reaches every process of the group, and the engines must outlive
 * the server that uses them. It writes into a log file; the last lines explain a failed start.
 */
import { type ChildProcess, spawn } from 'node:child_process';
import { closeSync, openSync, readFileSync } from 'node:fs';
import process from 'node:process';
import { setTimeout as sleep } from 'node:timers/promises';
import { Failure } from '../../output/failures.ts';
import { type DataFolder, diskFull } from '../data-folder.ts';
import { startOf } from '../processes.ts';

export type Engine = AsyncDisposable & {
  /** Rejects when the engine ends by itself, which it never should. */
  failed: Promise<never>;
};

export type EnginePlan = {
  name: string;
  program: string;
  args: readonly string[];
  logFile: string;
  /** Lets the engine finish its writes. */
  stopSignal: NodeJS.Signals;
  /** Ends it at once, its own children included: the last resort when this process ends in a hurry. */
  killSignal: NodeJS.Signals;
  uid?: number | undefined;
  env?: NodeJS.ProcessEnv;
  isReady(): Promise<boolean>;
};

/** PGlite on a busy machine takes a minute. */
const READY_WITHIN_MS = 180_000;

export async function startEngine(plan: EnginePlan, folder: DataFolder): Promise<Engine> {
  const { name, stopSignal } = plan;
  const child = spawnDetached(plan);
  const ended = new Promise<Failure>((resolve) => {
    child.once('error', (error) => resolve(endedFailure(plan, folder.dir, error.message)));
    child.once('exit', (code, signal) => resolve(endedFailure(plan, folder.dir, signal ?? `exit code ${code}`)));
  });
  const { pid } = child;
  if (pid === undefined) throw await ended;
  folder.note({ name, stopSignal, pid, startedAt: startOf(pid) ?? '' });
  const killWithUs = () => void child.kill(plan.killSignal);
  process.once('exit', killWithUs);
  let isStopping = false;
  const failed = ended.then((failure) => (isStopping ? new Promise<never>(() => undefined) : Promise.reject(failure)));
  failed.catch(() => undefined);
  const engine: Engine = {
    failed,
    async [Symbol.asyncDispose]() {
      isStopping = true;
      await endChild(child, stopSignal, ended);
      process.removeListener('exit', killWithUs);
    },
  };
  try {
    await Promise.race([untilReady(plan), failed]);
  } catch (error) {
    await engine[Symbol.asyncDispose]();
    throw error;
  }
  return engine;
}

function spawnDetached({ program, args, logFile, uid, env }: EnginePlan): ChildProcess {
  const log = openSync(logFile, 'a', 0o600);
  const user = uid === undefined ? {} : { uid, gid: uid };
  const child = spawn(program, args, {
    detached: true,
    windowsHide: true,
    cwd: '/',
    stdio: ['ignore', log, log],
    ...(env && { env }),
    ...user,
  });
  closeSync(log);
  return child;
}

const PATIENCE_MS = 10_000;

/** A child of this process is known by its handle, also where the system tells no start time. */
async function endChild(child: ChildProcess, signal: NodeJS.Signals, ended: Promise<unknown>): Promise<void> {
  child.kill(signal);
  const impatient = setTimeout(() => child.kill('SIGKILL'), PATIENCE_MS);
  await ended;
  clearTimeout(impatient);
}

async function untilReady({ name, isReady, logFile }: EnginePlan): Promise<void> {
  const giveUpAt = Date.now() + READY_WITHIN_MS;
  while (!(await isReady())) {
    if (Date.now() > giveUpAt) {
      const seconds = READY_WITHIN_MS / 1_000;
      throw new Failure(`${name} did not become ready within ${seconds} s.`, { todo: `Its log is ${logFile}.` });
    }
    await sleep(20);
  }
}

function endedFailure({ name, logFile }: EnginePlan, dir: string, how: string): Failure {
  const log = lastLines(logFile);
  if (/no space left|disk quota exceeded/i.test(log)) return diskFull(dir);
  return new Failure(`${name} ended (${how}).`, { todo: `The end of its log, ${logFile}:\n${log}` });
}

export function lastLines(file: string): string {
  try {
    return readFileSync(file, 'utf8').trimEnd().split('\n').slice(-8).join('\n');
  } catch {
    return '(there is no log)';
  }
}
