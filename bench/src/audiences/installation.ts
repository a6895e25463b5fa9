import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { setPriority, tmpdir } from 'node:os';
import { join } from 'node:path';
import { freePorts, startNatsCluster, startPostgresServer } from '@millrace/engines';
import type { Definition } from '@millrace/contract/audiences';
import { type ServerProcess, serverProcess } from '../../../faults/src/server-process.ts';
import { openStore } from '../../../server/src/store/open-store.ts';
import { addDefinition } from '../../../server/testing/definitions.ts';
import { addDestination, overHttp, stackSettings } from '../../../server/testing/stack.ts';
import { until } from '../../../server/testing/until.ts';
import { mainPid, openPostgresCpu } from '../compute/postgres-cpu.ts';
import { cpuUs } from '../cpu-us.ts';
import { familyOf, FIRST_CORES, LAST_CORE, pin } from '../pin.ts';

/** As docs/run/postgresql.md advises for audiences on a machine with 16 GB: tables and indexes of a million users fit into the buffers. */
const DATABASE_OPTIONS = '-c fsync=on -c shared_buffers=4GB -c max_wal_size=4GB -c checkpoint_timeout=15min';
/** A tenth of the weight of the others, as in deploy/ and docs/run/postgresql.md. */
const YIELDING = 10;
const COMPUTES = 2;
const PATIENCE_MS = 60_000;

export type Installation = Awaited<ReturnType<typeof openInstallation>>;
export type Cpu = { compute: number; postgres: number; nats: number };

/** Control in a process, collect and deliver in another, two that compute and can be stopped, one NATS server and PostgreSQL. */
export async function openInstallation() {
  await using opening = new AsyncDisposableStack();
  const dir = mkdtempSync(join(tmpdir(), 'millrace-bench-'));
  opening.defer(() => rmSync(dir, { recursive: true, force: true }));
  const nats = opening.use(await startNatsCluster({ maxFileStoreMb: 40_960 }));
  const postgres = opening.use(await startPostgresServer({ options: DATABASE_OPTIONS }));
  yieldAsGroup(mainPid(postgres));
  const [controlPort = 0] = await freePorts(1);
  const settings = { ...stackSettings(nats.url, postgres), MILLRACE_CONTROL_PORT: String(controlPort) };
  const start = async (roles: string, name: string) =>
    opening.use(await serverProcess({ ...settings, MILLRACE_ROLES: roles }, join(dir, `${name}.log`)));
  const [control, server] = [await start('control', 'control'), await start('collect,deliver', 'server')];
  await control.start();
  await server.start();
  const computes: ServerProcess[] = [];
  for (let nth = 0; nth < COMPUTES; nth += 1) computes.push(await start('compute', `compute-${nth}`));
  const store = opening.use(await openStore(postgres.serviceUrl));
  const asked = overHttp({ controlUrl: () => `http://127.0.0.1:${controlPort}`, collectUrl: () => server.url });
  const postgresCpu = openPostgresCpu(postgres);
  const open = opening.move();
  return {
    ...asked,
    nats,
    postgres,
    store,
    collectUrl: server.url,
    logs: () => computes.map(({ logFile }) => readFileSync(logFile, 'utf8')).join(''),
    ...openComputing(computes, mainPid(postgres)),
    cpu: (): Cpu => ({
      compute: computes.reduce((sum, each) => sum + cpuUs(each.pid() ?? 0), 0),
      postgres: postgresCpu(),
      nats: cpuUs(nats.nodes[0]?.pid() ?? 0),
    }),
    [Symbol.asyncDispose]: () => open.disposeAsync(),
  };
}

function openComputing(computes: readonly ServerProcess[], postgresPid: number) {
  let isApart = false;
  return {
    startComputing: async () => {
      await Promise.all(computes.map(startYielding));
      if (isApart) for (const each of computes) pin(each.pid() ?? 0, LAST_CORE);
    },
    stopComputing: async () => void (await Promise.all(computes.map((each) => each.kill('SIGTERM')))),
    /** From now on compute and PostgreSQL have the last core for themselves, as on a machine of their own. */
    setApart() {
      isApart = true;
      for (const pid of familyOf(process.pid)) pin(pid, FIRST_CORES);
      for (const pid of familyOf(postgresPid)) pin(pid, LAST_CORE);
    },
  };
}

/** PostgreSQL is a session of its own: kernels that weigh sessions as groups (autogroup) know the weight of the group alone. */
function yieldAsGroup(pid: number): void {
  setPriority(pid, YIELDING);
  const group = `/proc/${pid}/autogroup`;
  if (existsSync(group)) writeFileSync(group, String(YIELDING));
}

async function startYielding(compute: ServerProcess): Promise<void> {
  await compute.start();
  setPriority(compute.pid() ?? 0, YIELDING);
}

export type Shop = { workspaceId: string; sourceId: string; writeKey: string };

/** A source whose calls go nowhere by themselves. */
export async function addShop(stack: Installation): Promise<Shop> {
  type Source = { id: string; writeKeys: { key: string }[] };
  const { id, writeKeys } = await stack.get<Source>('POST', '/sources', { name: 'Shop' });
  const writeKey = writeKeys[0]?.key ?? '';
  await until(async () => (await stack.send(writeKey, [])) === 400, PATIENCE_MS);
  const sql = 'SELECT workspace_id AS id FROM sources WHERE id = $1';
  const [row] = await stack.store.asSystem((tx) => tx.query<{ id: string }>(sql, [id]));
  return { workspaceId: row?.id ?? '', sourceId: id, writeKey };
}

/** A webhook of a source without calls: only computed calls reach it. */
export async function addWebhook(stack: Installation, url: string): Promise<string> {
  const { id } = await stack.get<{ id: string }>('POST', '/sources', { name: 'Audiences' });
  return addDestination(stack, id, { targets: [{ url }] });
}

export type Added = { key: string; definition: Definition; destinations?: string[] };

/** Live at once: there are no events yet. */
export async function addDefinitions(
  { store }: Installation,
  { workspaceId }: Shop,
  added: readonly Added[],
): Promise<void> {
  for (const { key, definition, destinations = [] } of added)
    await addDefinition(store, { workspaceId, key, destinations, definition });
}
