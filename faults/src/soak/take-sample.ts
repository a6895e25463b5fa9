import { readdirSync, readFileSync, readlinkSync } from 'node:fs';
import type { NatsNode } from '@millrace/engines';
import type { Store } from '../../../server/src/store/open-store.ts';
import type { RecorderScene } from '../deliver/open-recorder-scene.ts';
import { askMonitor } from '../engine-view.ts';
import type { STAYING } from './series.ts';

const MB = 2 ** 20;

type Values = Record<string, number>;
type Jsz = {
  account_details?: { stream_detail?: { name: string; state: { messages: number; bytes: number } }[] }[];
};

/** The values that can be read now: an engine that is away tells nothing. */
export async function takeSample(
  { scene, store }: Pick<RecorderScene, 'scene' | 'store'>,
  pids: Readonly<Record<(typeof STAYING)[number], number | undefined>>,
): Promise<Values> {
  const values: Values = {};
  for (const [name, pid] of Object.entries(pids)) Object.assign(values, processValues(name, [pid]));
  const { nodes } = scene.cluster;
  Object.assign(
    values,
    processValues(
      'nats',
      nodes.map((node) => node.pid()),
    ),
  );
  Object.assign(values, await natsValues(nodes), await databaseValues(store));
  return values;
}

/** The sum of all of them; empty while one is away. */
function processValues(name: string, pids: readonly (number | undefined)[]): Values {
  try {
    const each = pids.map((pid) => ({ memory: residentMb(pid), links: openFiles(pid) }));
    const files = each.flatMap(({ links }) => links);
    return {
      [`memory of ${name}`]: Math.round(each.reduce((sum, { memory }) => sum + memory, 0)),
      [`files of ${name}`]: files.length,
      [`sockets of ${name}`]: files.filter((link) => link.startsWith('socket:')).length,
    };
  } catch {
    return {};
  }
}

function residentMb(pid: number | undefined): number {
  const kilobytes = /VmRSS:\s+(\d+)/.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1];
  return Number(kilobytes) / 1_024;
}

function openFiles(pid: number | undefined): string[] {
  const dir = `/proc/${pid}/fd`;
  return readdirSync(dir).flatMap((name) => {
    try {
      return [readlinkSync(`${dir}/${name}`)];
    } catch {
      // Closed since the folder was read.
      return [];
    }
  });
}

/** A stream is as large as the largest of its replicas: one that comes back is behind. */
async function natsValues(nodes: readonly NatsNode[]): Promise<Values> {
  const jsz = await Promise.all(nodes.map((node) => askMonitor<Jsz>(node, '/jsz?accounts=true&streams=true')));
  const varz = await Promise.all(nodes.map((node) => askMonitor<{ subscriptions: number }>(node, '/varz')));
  if (jsz.includes(undefined) || varz.includes(undefined)) return {};
  const streams = new Map<string, { messages: number; bytes: number }>();
  for (const { name, state } of jsz.flatMap((one) => one?.account_details ?? []).flatMap((a) => a.stream_detail ?? []))
    if ((streams.get(name)?.bytes ?? -1) < state.bytes) streams.set(name, state);
  const sum = (of: 'messages' | 'bytes', ...prefixes: string[]) =>
    [...streams]
      .filter(([name]) => prefixes.some((prefix) => name.startsWith(prefix)))
      .reduce((all, [, state]) => all + state[of], 0);
  return {
    'subscriptions of nats': varz.reduce((all, one) => all + (one?.subscriptions ?? 0), 0),
    lanes: round(sum('bytes', 'LANES-') / MB),
    tickets: sum('messages', 'TICKETS'),
    outcomes: round(sum('bytes', 'OUTCOMES') / MB),
    'dead letters and quarantine': sum('messages', 'DEAD', 'QUARANTINE'),
    'event streams': round(sum('bytes', 'EVENTS-') / MB),
  };
}

async function databaseValues(store: Store): Promise<Values> {
  const sql = `SELECT pg_database_size(current_database())::float8 AS bytes,
    (SELECT numbackends FROM pg_stat_database WHERE datname = current_database()) AS connections`;
  try {
    const [row] = await store.asSystem((tx) => tx.query<{ bytes: number; connections: number }>(sql));
    return row === undefined ? {} : { PostgreSQL: round(row.bytes / MB), 'connections of PostgreSQL': row.connections };
  } catch {
    return {};
  }
}

function round(value: number): number {
  return Math.round(value * 100) / 100;
}
