import { readdirSync, readFileSync, readlinkSync } from 'node:fs';
import { join } from 'node:path';
import type { PostgresServer } from '@millrace/engines';
import type { Settings } from '../../../faults/src/server-process.ts';
import { overHttp } from '../../../server/testing/stack.ts';
import { cpuUs } from '../cpu-us.ts';
import { startProcesses } from '../start-processes.ts';

export const PARTS = ['collect', 'deliver', 'control', 'nats', 'postgres'] as const;
export type Part = (typeof PARTS)[number];
export type Role = Exclude<Part, 'nats' | 'postgres'>;
export type Installation = Awaited<ReturnType<typeof openInstallation>>;

/** Each role in a process of its own, over one NATS server and PostgreSQL, so that each part can be measured alone. */
export async function openInstallation(settings: Settings = {}) {
  await using opening = new AsyncDisposableStack();
  const started = opening.use(await startProcesses(['control', 'collect', 'deliver'], settings));
  const { nats, postgres, processes, controlUrl } = started;
  const [control, collect, deliver] = processes;
  const postmaster = postmasterOf(postgres);
  const pids: Readonly<Record<Part, () => number[]>> = {
    collect: () => [collect?.pid() ?? 0],
    deliver: () => [deliver?.pid() ?? 0],
    control: () => [control?.pid() ?? 0],
    nats: () => [nats.nodes[0]?.pid() ?? 0],
    postgres: () => [postmaster, ...childrenOf(postmaster)],
  };
  const ended = (part: Part) => (part === 'postgres' ? endedChildrenUs(postmaster) : 0);
  const open = opening.move();
  return {
    ...overHttp({ controlUrl, collectUrl: () => collect?.url ?? '' }),
    cpuUsOf: (part: Part) => pids[part]().reduce((sum, pid) => sum + cpuUs(pid), ended(part)),
    memoryBytesOf: (part: Part) => pids[part]().reduce((sum, pid) => sum + privateBytes(pid), 0),
    natsConnections: (role: Role) => connectionsOf(pids[role](), portOf(nats.url)),
    postgresConnections: () => connectionsOf(pids.control(), portOf(postgres.url)),
    databaseBytes: () => databaseBytes(postgres),
    [Symbol.asyncDispose]: () => open.disposeAsync(),
  };
}

export function postmasterOf(postgres: PostgresServer): number {
  const file = join(postgres.run('SHOW data_directory').trim(), 'postmaster.pid');
  return Number(readFileSync(file, 'utf8').split('\n')[0]);
}

function databaseBytes(postgres: PostgresServer): number {
  const lines = postgres.run('CHECKPOINT; SELECT pg_database_size(current_database())').split('\n');
  return Number(lines.findLast((line) => /^\s*\d+\s*$/.test(line)));
}

function portOf(url: string): number {
  return Number(new URL(url).port);
}

export function childrenOf(parent: number): number[] {
  return readdirSync('/proc')
    .filter((name) => /^\d+$/.test(name))
    .map(Number)
    .filter((pid) => parentOf(pid) === parent);
}

function parentOf(pid: number): number {
  try {
    return Number(/\) \w (\d+)/.exec(readFileSync(`/proc/${pid}/stat`, 'utf8'))?.[1]);
  } catch {
    return 0;
  }
}

/** Anonymous memory: the shared buffers of PostgreSQL and the pages of files would count several times. */
function privateBytes(pid: number): number {
  return Number(/^RssAnon:\s+(\d+)/m.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1]) * 1_024;
}

/** CPU of processes that ended and were waited for, in ticks of 10 ms: PostgreSQL has one for each connection. */
export function endedChildrenUs(pid: number): number {
  const fields = readFileSync(`/proc/${pid}/stat`, 'utf8')
    .replace(/^.*\) /, '')
    .split(' ');
  return (Number(fields[13]) + Number(fields[14])) * 10_000;
}

/** Established connections of these processes to a port of this machine. */
function connectionsOf(pids: readonly number[], port: number): number {
  const hex = port.toString(16).toUpperCase().padStart(4, '0');
  const rows = ['/proc/net/tcp', '/proc/net/tcp6']
    .flatMap((file) => readFileSync(file, 'utf8').split('\n').slice(1))
    .map((line) => line.trim().split(/\s+/));
  const open = rows.filter(([, , remote = '', state]) => remote.endsWith(`:${hex}`) && state === '01');
  const inodes = new Set(open.map((columns) => `socket:[${columns[9]}]`));
  return pids.flatMap(socketsOf).filter((socket) => inodes.has(socket)).length;
}

function socketsOf(pid: number): string[] {
  return readdirSync(`/proc/${pid}/fd`).flatMap((fd) => {
    try {
      return [readlinkSync(`/proc/${pid}/fd/${fd}`)];
    } catch {
      return []; // closed meanwhile
    }
  });
}
