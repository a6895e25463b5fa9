import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { mkdirSync } from 'node:fs';
import { createServer } from 'node:http';
import { join } from 'node:path';
import { type NatsCluster, startNatsCluster } from '@millrace/engines';
import { type ControlClient, controlClient } from '../control-client.ts';
import { type MachineWatch, watchMachine } from '../deliver/watch-machine.ts';
import { controlPortIn } from '../open-control-scene.ts';
import type { FaultRun } from '../run-fault.ts';
import { type ServerProcess, serverProcess, type Settings } from '../server-process.ts';
import { startDatabase } from '../start-database.ts';
import { waitUntil } from '../wait-until.ts';
import { type CellSource, sourceIn } from './cell-source.ts';

export const CELLS = ['main', 'eu'] as const;
export type CellName = (typeof CELLS)[number];

/** A source in each of two cells, each role in a process of its own, and one receiver for all. */
export type CellScene = AsyncDisposable & {
  clusters: Readonly<Record<CellName, NatsCluster>>;
  collect: ServerProcess;
  control: ControlClient;
  sources: Readonly<Record<CellName, CellSource>>;
  /** When each message arrived, by its id; more than one time means duplicates. */
  arrivals: ReadonlyMap<string, number[]>;
  machine: MachineWatch;
};

const READY_WITHIN_MS = 60_000;

/** `eu` has `main` as its spare; `main` has none. */
export async function openCellScene(run: FaultRun): Promise<CellScene> {
  await using parts = new AsyncDisposableStack();
  const { arrivals, port } = parts.use(await openArrivals());
  const clusters = { main: parts.use(await startCell(run, 'main')), eu: parts.use(await startCell(run, 'eu')) };
  const database = parts.use(await startDatabase());
  const token = randomBytes(24).toString('hex');
  const settings = settingsOf(clusters, nodesOf(run));
  const start = async (name: string, own: Settings) => {
    const process = parts.use(await serverProcess({ ...settings, ...own }, join(run.dir, `${name}.log`)));
    return { process, said: await process.start() };
  };
  const controlling = await start('control', {
    MILLRACE_ROLES: 'control',
    MILLRACE_CONTROL_PORT: '0',
    MILLRACE_DATABASE_URL: database.serviceUrl,
    MILLRACE_MIGRATION_DATABASE_URL: database.url,
    MILLRACE_BOOTSTRAP_TOKEN: token,
  });
  const [{ process: collect }] = await Promise.all([
    start('collect', { MILLRACE_ROLES: 'collect' }),
    ...CELLS.map((cell) => start(`deliver-${cell}`, { MILLRACE_ROLES: 'deliver', MILLRACE_CELL: cell })),
  ]);
  const control = controlClient(`http://127.0.0.1:${controlPortIn(controlling.said)}`, token);
  const make = (cell: CellName) => sourceIn(cell, { control, collectUrl: collect.url, receiverPort: port });
  const sources = { main: await make('main'), eu: await make('eu') };
  for (const source of Object.values(sources)) {
    await waitUntil(`a call of ${source.cell} arrives`, READY_WITHIN_MS, async () => {
      const { id } = await source.send();
      return arrivals.has(id);
    });
  }
  const machine = parts.use(watchMachine());
  const open = parts.move();
  return { clusters, collect, control, sources, arrivals, machine, [Symbol.asyncDispose]: () => open.disposeAsync() };
}

function startCell(run: FaultRun, name: CellName): Promise<NatsCluster> {
  const dir = join(run.dir, name);
  mkdirSync(dir);
  return startNatsCluster({ nodes: nodesOf(run), dir });
}

function nodesOf({ isFull }: FaultRun): 1 | 3 {
  return isFull ? 3 : 1;
}

function settingsOf(clusters: CellScene['clusters'], nodes: number): Settings {
  return {
    MILLRACE_HOST: '127.0.0.1',
    MILLRACE_METRICS_PORT: '0',
    MILLRACE_NATS_URL: clusters.main.url,
    MILLRACE_CELLS: JSON.stringify({ eu: { url: clusters.eu.url, spare: 'main' } }),
    MILLRACE_REPLICAS: String(nodes),
    MILLRACE_KEYS: `1:${Buffer.alloc(32, 1).toString('base64')}`,
    MILLRACE_ALLOW_CIDRS: '127.0.0.0/8',
    MILLRACE_LOG_LEVEL: 'info',
  };
}

/** A receiver in this process: it shares the clock of the senders. */
async function openArrivals() {
  const arrivals = new Map<string, number[]>();
  const server = createServer((request, response) => {
    const chunks: Buffer[] = [];
    request.on('data', (chunk: Buffer) => chunks.push(chunk));
    request.on('end', () => {
      // The body has no message id: the senders write it as the user.
      const { userId } = JSON.parse(Buffer.concat(chunks).toString()) as { userId: string };
      const times = arrivals.get(userId) ?? [];
      times.push(performance.now());
      arrivals.set(userId, times);
      response.writeHead(200).end();
    });
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const address = server.address();
  const port = typeof address === 'object' && address !== null ? address.port : 0;
  return {
    arrivals,
    port,
    async [Symbol.asyncDispose]() {
      const closed = once(server, 'close');
      server.close();
      server.closeAllConnections();
      await closed;
    },
  };
}
