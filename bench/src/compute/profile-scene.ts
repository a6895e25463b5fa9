import { spawn } from 'node:child_process';
import { text } from 'node:stream/consumers';
import { once } from 'node:events';
import { join } from 'node:path';
import { startPostgresServer } from '@millrace/engines';
import { changeDefinitions, insertDefinition } from '../../../server/src/store/definitions/definitions.ts';
import { migrateDatabase } from '../../../server/src/store/migrate-database.ts';
import { openStore } from '../../../server/src/store/open-store.ts';
import { insertWorkspace } from '../../../server/src/store/workspaces.ts';
import { openPostgresCpu } from './postgres-cpu.ts';
import type { ReaderFigures, ReaderTask } from './reader.ts';
import type { Load } from './synthetic-fold.ts';

export const WORKSPACE = 'ws_bench';
const DEFINITIONS = 50;
/** As an operator would set it on a machine with a few GB for PostgreSQL. */
const OPTIONS = '-c fsync=on -c shared_buffers=1GB -c max_wal_size=4GB -c checkpoint_timeout=15min';

export type Scene = Awaited<ReturnType<typeof openScene>>;

/** A PostgreSQL of its own with an installation that has 50 definitions and no profiles. */
export async function openScene() {
  await using opening = new AsyncDisposableStack();
  const postgres = opening.use(await startPostgresServer({ options: OPTIONS }));
  await migrateDatabase(postgres.url);
  const store = opening.use(await openStore(postgres.serviceUrl));
  await store.asSystem((tx) => insertWorkspace(tx, { id: WORKSPACE, name: 'Bench' }));
  const definitions = await store.inWorkspace(WORKSPACE, async (tx) => {
    const change = await changeDefinitions(tx);
    const numbers: number[] = [];
    for (let nth = 0; nth < DEFINITIONS; nth += 1) {
      const named = { workspace_id: WORKSPACE, id: `aud_${nth}`, key: `audience_${nth}`, name: `Audience ${nth}` };
      const row = await insertDefinition(tx, change, { ...named, kind: 'audience', destinations: ['dst_1'] });
      numbers.push(row?.number ?? 0);
    }
    return numbers;
  });
  const opened = opening.move();
  const load: Load = {
    workspaceId: WORKSPACE,
    users: 0,
    hotShare: 0,
    definitions,
    transitionsPerEvent: 0,
    timerShare: 0,
    foldUs: 0,
  };
  return {
    postgres,
    store,
    load,
    cpuUs: openPostgresCpu(postgres),
    [Symbol.asyncDispose]: () => opened.disposeAsync(),
  };
}

export type RunOptions = { readers: number; batch: number; events: number; load: Load };
export type RunFigures = {
  eventsPerSecond: number;
  postgresUs: number;
  transitionsPerEvent: number;
  batchP50Ms: number;
  batchP99Ms: number;
  rejected: number;
  deadlocks: number;
};

/** Processes that fold `events` in all, side by side. */
export async function runReaders(
  { postgres, cpuUs }: Scene,
  { readers, batch, events, load }: RunOptions,
): Promise<RunFigures> {
  const task = { databaseUrl: postgres.serviceUrl, batch, events: events / readers, load };
  const deadlocks = () =>
    Number(postgres.run('SELECT deadlocks FROM pg_stat_database WHERE datname = current_database()'));
  const [deadlocksBefore, before] = [deadlocks(), cpuUs()];
  const all = await Promise.all(
    Array.from({ length: readers }, (_, nth) => runReader({ ...task, stream: `stream-${nth}` })),
  );
  const usedUs = cpuUs() - before;
  const sum = (of: (figures: ReaderFigures) => number) => all.reduce((total, each) => total + of(each), 0);
  const batchMs = all.flatMap((each) => each.batchMs).toSorted((a, b) => a - b);
  const at = (part: number) => Math.round(batchMs[Math.floor(batchMs.length * part)] ?? 0);
  const folded = sum((each) => each.events);
  return {
    eventsPerSecond: Math.round(sum((each) => each.events / each.seconds)),
    postgresUs: Math.round((usedUs / folded) * 10) / 10,
    transitionsPerEvent: Math.round((sum((each) => each.transitions) / folded) * 100) / 100,
    batchP50Ms: at(0.5),
    batchP99Ms: at(0.99),
    rejected: sum((each) => each.rejected),
    deadlocks: deadlocks() - deadlocksBefore,
  };
}

async function runReader(task: ReaderTask): Promise<ReaderFigures> {
  const program = join(import.meta.dirname, 'reader.ts');
  const child = spawn(process.execPath, [program, JSON.stringify(task)], { stdio: ['ignore', 'pipe', 'inherit'] });
  const [told] = await Promise.all([text(child.stdout), once(child, 'exit')]);
  return JSON.parse(told) as ReaderFigures;
}
