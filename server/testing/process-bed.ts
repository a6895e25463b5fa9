/** `npm start` with several processes, as a service of its own over real engines. */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { Agent, request } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { freePorts, startNatsCluster, startPostgresServer } from '@millrace/engines';
import { overHttp, stackSettings } from './stack.ts';
import type { LogLine } from './log-lines.ts';
import { until } from './until.ts';

const MAIN = join(import.meta.dirname, '../src/main.ts');
const PACE_MS = 10;

export async function openProcessBed() {
  await using opening = new AsyncDisposableStack();
  const nats = opening.use(await startNatsCluster());
  const postgres = opening.use(await startPostgresServer());
  const [collect = 0, control = 0, metrics = 0] = await freePorts(3);
  // A setting that the supervisor and its children read from a file, so that a test can spoil it.
  const secretsDir = mkdtempSync(join(tmpdir(), 'millrace-secrets-'));
  opening.defer(() => rmSync(secretsDir, { recursive: true }));
  const settings = {
    ...stackSettings(nats.url, postgres),
    MILLRACE_PROCESSES: '2',
    MILLRACE_SECRETS_DIR: secretsDir,
    MILLRACE_COLLECT_PORT: String(collect),
    MILLRACE_CONTROL_PORT: String(control),
    MILLRACE_METRICS_PORT: String(metrics),
    MILLRACE_DRAIN_MS: '1000',
  };
  const urlOf = (port: number) => `http://127.0.0.1:${port}`;
  const open = opening.move();
  return {
    ...overHttp({ controlUrl: () => urlOf(control), collectUrl: () => urlOf(collect) }),
    secretsDir,
    collectUrl: urlOf(collect),
    metricsUrl: urlOf(metrics),
    start: () => startService(settings, urlOf(metrics)),
    [Symbol.asyncDispose]: () => open.disposeAsync(),
  };
}

/** Resolves when all processes are ready. `signal` reaches the supervisor alone, `signalAll` each process, as systemd sends it. */
async function startService(settings: Record<string, string>, metricsUrl: string) {
  // Five of the processes start later than the first ones, and need not compile the same modules.
  const cache = { NODE_COMPILE_CACHE: join(tmpdir(), 'millrace-compile-cache') };
  // oxlint-disable-next-line node/no-process-env -- the rest that a program needs
  const env = { ...cache, ...process.env, ...settings };
  const service = spawn(process.execPath, [MAIN], { env, detached: true, stdio: ['ignore', 'pipe', 'pipe'] });
  const lines: LogLine[] = [];
  let said = '';
  createInterface({ input: service.stdout }).on('line', (line) => lines.push(JSON.parse(line) as LogLine));
  service.stderr.on('data', (chunk) => (said += String(chunk)));
  const exited = once(service, 'close') as Promise<[number | null]>;
  const signalAll = (signal: NodeJS.Signals) => process.kill(-(service.pid ?? 0), signal);
  const isReady = async () => (await fetch(`${metricsUrl}/readyz`).catch(() => undefined))?.status === 200;
  await until(isReady, 60_000, () => `${said}${JSON.stringify(lines)}`);
  return {
    lines,
    of: (event: string) => lines.filter(({ msg }) => msg === event),
    /** The ids of the processes that children were started as, in the order of their starts. */
    children: () => lines.filter(({ msg }) => msg === 'child.started').map(({ pid }) => Number(pid)),
    signal: (signal: NodeJS.Signals) => void service.kill(signal),
    signalAll,
    exitCode: async () => (await exited)[0],
    async [Symbol.asyncDispose]() {
      if (service.exitCode === null && service.signalCode === null) signalAll('SIGKILL');
      await exited;
    },
  };
}

export type Sender = { accepted: Set<string>; failures: string[]; stop(): Promise<void> };

/** Clients that send one call after the other until they are told to stop, over new connections or over kept ones. */
export function startSending(collectUrl: string, writeKey: string, isKept: boolean): Sender {
  const accepted = new Set<string>();
  const failures: string[] = [];
  const agent = new Agent({ keepAlive: isKept });
  const life = { isOver: false };
  const send = async (client: number) => {
    for (let nth = 0; !life.isOver; nth += 1) {
      // As fast as they can, the clients would take the cores from the processes that start.
      const dueAt = performance.now() + PACE_MS;
      const event = `${isKept ? 'kept' : 'new'} ${client} ${nth} ${process.hrtime.bigint()}`;
      const call = { type: 'track', event, userId: 'u1', messageId: event, writeKey };
      const answer = await post(agent, `${collectUrl}/v1/track`, JSON.stringify(call));
      if (answer === '200') accepted.add(event);
      else failures.push(answer);
      await until(() => performance.now() >= dueAt);
    }
  };
  const clients = Promise.all([1, 2].map(send));
  return {
    accepted,
    failures,
    async stop() {
      life.isOver = true;
      await clients;
      agent.destroy();
    },
  };
}

/** The status, or the error of the connection. */
export function post(agent: Agent, url: string, body: string): Promise<string> {
  return new Promise((resolve) => {
    const asked = request(url, { method: 'POST', agent }, (answer) => {
      answer.resume();
      answer.once('end', () => resolve(String(answer.statusCode)));
    });
    asked.once('error', (error: NodeJS.ErrnoException) => resolve(error.code ?? error.message));
    asked.end(body);
  });
}
