import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { createWriteStream } from 'node:fs';
import { join } from 'node:path';
import { commandOn, freePorts, LOOPBACK, type NetHost } from '@millrace/engines';
import { MAIN, serverArgs } from '../../server/testing/server-program.ts';

export type Exit = { code: number | null; signal: NodeJS.Signals | null };

export type ServerProcess = AsyncDisposable & {
  url: string;
  port: number;
  pid(): number | undefined;
  logFile: string;
  /** Resolves when it takes requests, with what it has logged by then. Each start uses the same port. */
  start(): Promise<string>;
  /** Shifts its clock by this from now on; only for a process whose clock can be set. */
  setClock(shiftMs: number): void;
  /** Stops it where it stands, and lets it go on. */
  suspend(): void;
  resume(): void;
  /** Sends a signal and resolves when the process is gone. */
  kill(signal: NodeJS.Signals): Promise<Exit>;
};

export type Settings = Readonly<Record<`MILLRACE_${string}`, string>>;

/** One process, and a port for its metrics that no other scene has. */
const ALONE = { MILLRACE_PROCESSES: '1', MILLRACE_METRICS_PORT: '0' };
const CLOCK = join(import.meta.dirname, 'settable-clock.ts');

export type ProcessOptions = {
  hasSettableClock?: boolean;
  /** The program of the version that is started; asked at each start. */
  main?(): string;
  /** The host that it runs on, if not the usual one. */
  host?: NetHost | undefined;
};

/** The real server in the roles that the settings name, in a process that faults may stop and kill. */
// oxlint-disable-next-line max-lines-per-function -- a factory: its parts share its state
export async function serverProcess(
  settings: Settings,
  logFile: string,
  { hasSettableClock = false, main = () => MAIN, host }: ProcessOptions = {},
): Promise<ServerProcess> {
  const [port = 0] = await freePorts(1);
  const log = createWriteStream(logFile, { flags: 'a' });
  let child: ChildProcess | undefined;
  const stopWithUs = () => void child?.kill('SIGKILL');
  process.once('exit', stopWithUs);

  return {
    url: `http://${host?.address ?? LOOPBACK}:${port}`,
    port,
    pid: () => child?.pid,
    logFile,
    async start() {
      const place = { MILLRACE_COLLECT_PORT: String(port), ...(host && { MILLRACE_HOST: host.address }) };
      const env = { ...process.env, ...ALONE, ...settings, ...place };
      const started = spawnServer(main(), env, { hasSettableClock, host });
      child = started;
      for (const output of [started.stdout, started.stderr]) output?.pipe(log, { end: false });
      return hasStarted(started, logFile);
    },
    setClock: (shiftMs) => void child?.send(shiftMs),
    suspend: () => void child?.kill('SIGSTOP'),
    resume: () => void child?.kill('SIGCONT'),
    kill: (signal) => endBy(child, signal),
    async [Symbol.asyncDispose]() {
      process.removeListener('exit', stopWithUs);
      await endBy(child, 'SIGKILL');
      await new Promise((closed) => log.end(closed));
    },
  };
}

async function endBy(child: ChildProcess | undefined, signal: NodeJS.Signals): Promise<Exit> {
  if (child === undefined) return { code: null, signal: null };
  if (child.exitCode === null && child.signalCode === null) {
    const gone = once(child, 'exit');
    child.kill(signal);
    await gone;
  }
  return { code: child.exitCode, signal: child.signalCode };
}

function spawnServer(
  main: string,
  env: NodeJS.ProcessEnv,
  { hasSettableClock, host }: Pick<ProcessOptions, 'hasSettableClock' | 'host'>,
): ChildProcess {
  const flags = hasSettableClock === true ? ['--import', CLOCK] : [];
  const { program, args } = commandOn(host, process.execPath, [...flags, ...serverArgs(main)]);
  return hasSettableClock === true
    ? spawn(program, args, { env, stdio: ['pipe', 'pipe', 'pipe', 'ipc'] })
    : spawn(program, args, { env });
}

/** Its own log line is the signal; a process that ends instead has its reason in the log. */
function hasStarted(child: ChildProcess, logFile: string): Promise<string> {
  return new Promise((resolve, reject) => {
    let said = '';
    const outputs = [child.stdout, child.stderr];
    const endedEarly = () => {
      const end = said.trim().split('\n').slice(-3).join('\n');
      reject(new Error(`the server ended with ${child.exitCode} before it started, see ${logFile}: ${end}`));
    };
    child.once('close', endedEarly);
    const listen = (chunk: Buffer) => {
      said += chunk.toString();
      if (!said.includes('server.started')) return;
      for (const output of outputs) output?.off('data', listen);
      child.off('close', endedEarly);
      resolve(said);
    };
    for (const output of outputs) output?.on('data', listen);
  });
}
