import { execFileSync, fork } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type NatsCluster, type PostgresServer, ROOT_DIR } from '@millrace/engines';
import { addScene, overHttp } from '../../../server/testing/stack.ts';
import { until } from '../../../server/testing/until.ts';
import { openPostgresCpu } from '../compute/postgres-cpu.ts';
import { cpuUs } from '../cpu-us.ts';
import type { Receivers } from '../replay/start-receivers.ts';
import { startProcesses } from '../start-processes.ts';
import type { TwinPlan } from './twin.ts';

export const PARTS = ['node', 'nats', 'postgres'] as const;
export type Part = (typeof PARTS)[number];
/** CPU that each part has used since it started, in microseconds. */
export type Cpu = Record<Part, number>;

/** An installation of Millrace, or its twin. */
export type Small = AsyncDisposable & {
  trackUrl: string;
  writeKey: string;
  cpu(): Cpu;
  /** Resident memory of the process that plays the roles. */
  residentMb(): number;
  /** Resident memory of NATS. */
  natsMb(): number;
};

/** All roles in one process, with one NATS server and PostgreSQL, of the version in a checkout; one destination and an event a call. */
export async function openSmall(checkout: string, receivers: Receivers): Promise<Small> {
  await using opening = new AsyncDisposableStack();
  const roles = 'collect,deliver,control,compute';
  const settings = {
    MILLRACE_HOST_ATTEMPTS: '0',
    MILLRACE_HOST_ATTEMPTS_PER_SECOND: '0',
    // As an installation has it by default; tests have one stream.
    MILLRACE_LANE_STREAMS: '2',
    ...imageSettings(checkout),
  };
  const dir = mkdtempSync(join(tmpdir(), 'millrace-bundle-'));
  opening.defer(() => rmSync(dir, { recursive: true, force: true }));
  const main = makeBundle(checkout, dir);
  const { nats, postgres, processes, controlUrl } = opening.use(await startProcesses([roles], settings, { main }));
  const [server] = processes;
  const http = overHttp({ controlUrl, collectUrl: () => server?.url ?? '' });
  await until(async () => (await http.ask('GET', '/sources').catch(() => undefined))?.status === 200);
  const { writeKey } = await addScene(http, receivers.otherUrl);
  const trackUrl = `${server?.url ?? ''}/v1/track`;
  return measured({ trackUrl, writeKey, nats, postgres, pid: () => server?.pid() ?? 0 }, opening.move());
}

/** The twin with engines of its own, set as those of the installation are. */
export async function openTwin(receivers: Receivers): Promise<Small> {
  await using opening = new AsyncDisposableStack();
  const { nats, postgres } = opening.use(await startProcesses([]));
  const plan: TwinPlan = { natsUrl: nats.adminUrl, databaseUrl: postgres.url, receiverUrl: receivers.otherUrl };
  const twin = fork(join(import.meta.dirname, 'twin.ts'), [JSON.stringify(plan)], {
    env: { ...process.env, ...imageSettings(ROOT_DIR) },
  });
  opening.defer(async () => {
    const gone = once(twin, 'exit');
    twin.disconnect();
    await gone;
  });
  const ended = once(twin, 'exit').then(() => Promise.reject(new Error('the twin ended before it listened')));
  const [port] = (await Promise.race([once(twin, 'message'), ended])) as [number];
  const trackUrl = `http://127.0.0.1:${port}/v1/track`;
  return measured({ trackUrl, writeKey: '', nats, postgres, pid: () => twin.pid ?? 0 }, opening.move());
}

type Opened = {
  trackUrl: string;
  writeKey: string;
  nats: NatsCluster;
  postgres: PostgresServer;
  pid(): number;
};

function measured({ trackUrl, writeKey, nats, postgres, pid }: Opened, open: AsyncDisposableStack): Small {
  const postgresUs = openPostgresCpu(postgres);
  const natsPid = () => nats.nodes[0]?.pid() ?? 0;
  return {
    trackUrl,
    writeKey,
    cpu: () => ({ node: cpuUs(pid()), nats: cpuUs(natsPid()), postgres: postgresUs() }),
    residentMb: () => kilobytesOf(pid(), 'VmRSS') / 1_024,
    natsMb: () => kilobytesOf(natsPid(), 'VmRSS') / 1_024,
    [Symbol.asyncDispose]: () => open.disposeAsync(),
  };
}

/** People run the bundle. Node would keep the sources, and what reads TypeScript, in memory as well. */
function makeBundle(checkout: string, dir: string): string {
  execFileSync(process.execPath, [join(checkout, 'scripts/bundle.ts'), dir], { cwd: checkout, stdio: 'inherit' });
  return join(dir, 'bin/millrace.cjs');
}

/** The image's settings of Node and the C library: they decide how much memory a process keeps. */
function imageSettings(checkout: string): Record<string, string> {
  const dockerfile = readFileSync(join(checkout, 'deploy/image/Dockerfile'), 'utf8');
  const found = dockerfile.matchAll(/\b(?<name>NODE_OPTIONS|MALLOC_ARENA_MAX)=(?<value>\S+)/g);
  return Object.fromEntries([...found].map(({ groups }) => [groups?.['name'] ?? '', groups?.['value'] ?? '']));
}

function kilobytesOf(pid: number, field: string): number {
  return Number(new RegExp(`^${field}:\\s+(\\d+)`, 'm').exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1]);
}
