/**
 * `scripts/engines`: NATS and PostgreSQL of this checkout, on ports of its own, so two checkouts can run side by side.
 * The running processes are listed in `.engines/run/state.json`; `down` stops them by the pids found there.
 */
import { existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { parseArgs } from 'node:util';
import { freePorts } from './free-ports.ts';
import { getEngines } from './get-engines.ts';
import { natsIsReady, spawnNats } from './nats-cluster.ts';
import type { NatsNodeSettings } from './nats-config.ts';
import { newerPostgresFolder } from './newer-postgres.ts';
import { ENGINES_DIR } from './paths.ts';
import {
  isPostgresRunning,
  OWNER_LOGIN,
  postgresUrl,
  removePostgresData,
  SERVICE_LOGIN,
  startPostgres,
  stopPostgres,
} from './postgres.ts';

type State = { nodes: (NatsNodeSettings & { pid: number })[]; postgresPort: number };

const RUN_DIR = join(ENGINES_DIR, 'run');
const STATE_FILE = join(RUN_DIR, 'state.json');

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: { nodes: { type: 'string', default: '1' }, wipe: { type: 'boolean', default: false } },
});

switch (positionals[0]) {
  case 'get':
    getEngines();
    newerPostgresFolder();
    break;
  case 'up':
    getEngines();
    await up(values.nodes === '3' ? 3 : 1);
    break;
  case 'down':
    await down();
    if (values.wipe) wipe();
    break;
  case 'env':
    printEnvironment();
    break;
  case 'status':
    printStatus();
    break;
  default:
    console.error('usage: scripts/engines node | get | up [--nodes 1|3] | env | status | down [--wipe]');
    process.exitCode = 2;
}

/** Safe to repeat: a running engine is left alone, a dead one is started again on its old ports with its old data. */
async function up(size: 1 | 3): Promise<void> {
  const before = readState();
  if (before !== undefined && before.nodes.length !== size) {
    throw new Error(
      `a cluster of ${before.nodes.length} is here: \`scripts/engines down --wipe\` before changing its size`,
    );
  }
  const state = before ?? (await planState(size));
  mkdirSync(RUN_DIR, { recursive: true });
  for (const node of state.nodes) {
    if (isAlive(node)) continue;
    node.pid = spawnNats(node, { logFile: `${node.storeDir}.log`, detached: true }).pid ?? 0;
    writeFileSync(STATE_FILE, JSON.stringify(state, null, 2));
  }
  if (!isPostgresRunning()) startPostgres(state.postgresPort);
  await Promise.all(state.nodes.map((node) => natsIsReady(monitorUrl(node), size)));
  printStatus();
}

async function down(): Promise<void> {
  const state = readState();
  for (const node of state?.nodes ?? []) {
    if (isAlive(node)) process.kill(node.pid, 'SIGTERM');
  }
  stopPostgres();
  const giveUpAt = Date.now() + 20_000;
  while (state?.nodes.some((node) => isAlive(node)) && Date.now() < giveUpAt) await sleep(50);
}

function wipe(): void {
  rmSync(RUN_DIR, { recursive: true, force: true });
  removePostgresData();
}

function printEnvironment(): void {
  const state = readState();
  if (state === undefined) throw new Error('nothing is set up here yet: run `scripts/engines up` first');
  console.log(`export MILLRACE_NATS_URL='${state.nodes.map((node) => `nats://127.0.0.1:${node.port}`).join(',')}'`);
  const databaseUrl = (login: string) => postgresUrl(login, state.postgresPort, 'millrace');
  console.log(`export MILLRACE_DATABASE_URL='${databaseUrl(SERVICE_LOGIN)}'`);
  console.log(`export MILLRACE_MIGRATION_DATABASE_URL='${databaseUrl(OWNER_LOGIN)}'`);
  console.log(`export MILLRACE_REPLICAS='${state.nodes.length}'`);
}

function printStatus(): void {
  const state = readState();
  for (const node of state?.nodes ?? []) {
    console.log(`nats ${node.name}  ${isAlive(node) ? `running, pid ${node.pid}` : 'stopped'}, port ${node.port}`);
  }
  if (state === undefined) console.log('nats     not set up');
  console.log(`postgres ${isPostgresRunning() ? `running, port ${state?.postgresPort}` : 'stopped'}`);
}

async function planState(size: 1 | 3): Promise<State> {
  const ports = await freePorts(size * 3 + 1);
  const clusterPorts = ports.slice(size * 2, size * 3);
  const nodes = Array.from({ length: size }, (_, i) => ({
    name: `n${i + 1}`,
    storeDir: join(RUN_DIR, `n${i + 1}`),
    port: ports[i] ?? 0,
    monitorPort: ports[size + i] ?? 0,
    clusterPort: clusterPorts[i] ?? 0,
    clusterPorts,
    maxFileStoreMb: 10_240,
    sync: 'always' as const,
    pid: 0,
  }));
  return { nodes, postgresPort: ports.at(-1) ?? 0 };
}

function readState(): State | undefined {
  return existsSync(STATE_FILE) ? (JSON.parse(readFileSync(STATE_FILE, 'utf8')) as State) : undefined;
}

/** The system may have given the pid to another process since; only the server with this node's configuration is ours. */
function isAlive({ pid, storeDir }: State['nodes'][number]): boolean {
  if (pid === 0) return false;
  const commandFile = `/proc/${pid}/cmdline`;
  return existsSync(commandFile) && readFileSync(commandFile, 'utf8').includes(`${storeDir}.conf`);
}

function monitorUrl(node: NatsNodeSettings): string {
  return `http://127.0.0.1:${node.monitorPort}`;
}
