/** `npm start` with several processes, as a service of its own over real engines. */
import { mkdtempSync, rmSync } from 'node:fs';
import { Agent, request } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { freePorts, startNatsCluster } from '@millrace/engines';
import { startMigratedPostgres } from './migrated-postgres.ts';
import { serverArgs } from './server-program.ts';
import { overHttp, stackSettings } from './stack.ts';
import { type Service, startService } from './start-service.ts';
import { until } from './until.ts';

const PACE_MS = 10;

export async function openProcessBed() {
  await using opening = new AsyncDisposableStack();
  const nats = opening.use(await startNatsCluster());
  const postgres = opening.use(await startMigratedPostgres());
  const [collect = 0, control = 0, metrics = 0] = await freePorts(3);
  // A setting that the supervisor and its children read from a file, so that a test can spoil it.
  const secretsDir = mkdtempSync(join(tmpdir(), 'millrace-secrets-'));
  opening.defer(() => rmSync(secretsDir, { recursive: true }));
  const settings = {
    ...stackSettings(nats.url, postgres),
    MILLRACE_SECRETS_DIR: secretsDir,
    MILLRACE_COLLECT_PORT: String(collect),
    MILLRACE_CONTROL_PORT: String(control),
    MILLRACE_METRICS_PORT: String(metrics),
    MILLRACE_DRAIN_MS: '1000',
  };
  const urlOf = (port: number) => `http://127.0.0.1:${port}`;
  const launch = (processes: number, more: Record<string, string> = {}) =>
    startService(serverArgs(), { ...settings, MILLRACE_PROCESSES: String(processes), ...more }, urlOf(metrics));
  const open = opening.move();
  return {
    ...overHttp({ controlUrl: () => urlOf(control), collectUrl: () => urlOf(collect) }),
    secretsDir,
    collectUrl: urlOf(collect),
    metricsUrl: urlOf(metrics),
    launch,
    /** Resolves when all processes are ready. */
    async start(processes = 2): Promise<Service> {
      await using starting = new AsyncDisposableStack();
      const service = starting.use(launch(processes));
      await service.ready();
      starting.move();
      return service;
    },
    [Symbol.asyncDispose]: () => open.disposeAsync(),
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
