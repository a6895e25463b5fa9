import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync, mkdtempSync, openSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { freePorts } from './free-ports.ts';
import { natsConfig, type NatsNodeSettings, type NatsTls } from './nats-config.ts';
import { commandOn, LOOPBACK, type NetHost } from './net-host.ts';
import { natsServerBinary } from './paths.ts';

export type NatsNode = {
  name: string;
  url: string;
  /** For the administrator, who may do what no role may. */
  adminUrl: string;
  monitorUrl: string;
  logFile: string;
  pid(): number | undefined;
  /** With another size or sync than it was planned with, as an operator changes it. */
  start(change?: Partial<Pick<NatsNodeSettings, 'maxFileStoreMb' | 'sync'>>): Promise<void>;
  /** Sends a signal; resolves when the process is gone for SIGKILL and SIGTERM, at once for SIGSTOP and SIGCONT. */
  kill(signal: NodeJS.Signals): Promise<void>;
};

export type NatsCluster = AsyncDisposable & {
  /** All servers, comma separated: the value of MILLRACE_NATS_URL. */
  url: string;
  /** The same for the administrator. */
  adminUrl: string;
  nodes: NatsNode[];
  dir: string;
  /** Starts one more server, which joins the others; `nodes` has it then. */
  addNode(options?: Pick<NatsClusterOptions, 'maxFileStoreMb' | 'sync'>): Promise<NatsNode>;
};

export type NatsClusterOptions = {
  nodes?: 1 | 3;
  dir?: string;
  /** Where each server keeps its data; in folders of `dir` without this. */
  storeDirs?: readonly string[];
  maxFileStoreMb?: number;
  sync?: 'always' | 'default';
  tls?: NatsTls;
  nkey?: string;
  /** The host of each server, if not all are on the usual one. */
  hosts?: readonly NetHost[] | undefined;
};

const STORE_MB = 4096;

/** Real servers of a test's own, on free ports, stopped and removed when the test lets go of them. */
export async function startNatsCluster(options: NatsClusterOptions = {}): Promise<NatsCluster> {
  const dir = options.dir ?? mkdtempSync(join(tmpdir(), 'millrace-nats-'));
  const plans = await planNodes(dir, options);
  const nodes = plans.map((plan) => natsNode(dir, plan));
  const stopWithUs = () => nodes.forEach((node) => void node.kill('SIGKILL'));
  process.once('exit', stopWithUs);
  await Promise.all(nodes.map((node) => node.start()));
  return {
    url: nodes.map((node) => node.url).join(','),
    adminUrl: nodes.map((node) => node.adminUrl).join(','),
    nodes,
    dir,
    async addNode(own = {}) {
      const plan = await planNode(dir, plans, { ...options, ...own });
      const node = natsNode(dir, plan);
      plans.push(plan);
      nodes.push(node);
      await node.start();
      return node;
    },
    async [Symbol.asyncDispose]() {
      process.removeListener('exit', stopWithUs);
      await Promise.all(nodes.map((node) => node.kill('SIGKILL')));
      if (options.dir === undefined) rmSync(dir, { recursive: true, force: true });
    },
  };
}

async function planNodes(dir: string, options: NatsClusterOptions): Promise<NatsNodeSettings[]> {
  const size = options.nodes ?? 1;
  const ports = await freePorts(size * 3);
  const clusterPorts = ports.slice(size * 2);
  return Array.from({ length: size }, (_, i) => ({
    name: `n${i + 1}`,
    storeDir: options.storeDirs?.[i] ?? join(dir, `n${i + 1}`),
    port: ports[i] ?? 0,
    monitorPort: ports[size + i] ?? 0,
    clusterPort: clusterPorts[i] ?? 0,
    clusterPorts,
    clusterAddresses: options.hosts?.map(({ address }) => address),
    host: options.hosts?.[i],
    maxFileStoreMb: options.maxFileStoreMb ?? STORE_MB,
    sync: options.sync ?? 'always',
    tls: options.tls,
    nkey: options.nkey,
  }));
}

/** The others need not know it: they learn of each other over any route. */
async function planNode(
  dir: string,
  plans: readonly NatsNodeSettings[],
  { sync = 'always', maxFileStoreMb = STORE_MB }: NatsClusterOptions,
): Promise<NatsNodeSettings> {
  const [port = 0, monitorPort = 0, clusterPort = 0] = await freePorts(3);
  const name = `n${plans.length + 1}`;
  const clusterPorts = [...plans.map((plan) => plan.clusterPort), clusterPort];
  return { name, storeDir: join(dir, name), port, monitorPort, clusterPort, clusterPorts, maxFileStoreMb, sync };
}

function natsNode(dir: string, settings: NatsNodeSettings): NatsNode {
  const logFile = join(dir, `${settings.name}.log`);
  const address = settings.host?.address ?? LOOPBACK;
  const monitorUrl = `http://${address}:${settings.monitorPort}`;
  let child: ChildProcess | undefined;
  return {
    name: settings.name,
    url: `nats://${address}:${settings.port}`,
    adminUrl: `nats://admin:admin@${address}:${settings.port}`,
    monitorUrl,
    logFile,
    pid: () => child?.pid,
    async start(change) {
      child = spawnNats({ ...settings, ...change }, { logFile, detached: false });
      await natsIsReady(monitorUrl, settings.clusterPorts.length);
    },
    async kill(signal) {
      if (child === undefined || child.exitCode !== null || child.signalCode !== null) return;
      const gone = once(child, 'exit');
      child.kill(signal);
      if (signal === 'SIGKILL' || signal === 'SIGTERM') await gone;
    },
  };
}

/** Starts one server; `detached` ones outlive us and are stopped by their pid. */
export function spawnNats(
  settings: NatsNodeSettings,
  { logFile, detached }: { logFile: string; detached: boolean },
): ChildProcess {
  mkdirSync(settings.storeDir, { recursive: true });
  const configFile = `${settings.storeDir}.conf`;
  writeFileSync(configFile, natsConfig(settings));
  const log = openSync(logFile, 'a');
  const { program, args } = commandOn(settings.host, natsServerBinary(), ['-c', configFile]);
  const child = spawn(program, args, { stdio: ['ignore', log, log], detached });
  if (detached) child.unref();
  return child;
}

/**
 * Ready means JetStream answers; for a cluster it also means a meta leader, without which nothing can be created.
 * A server restarted into a cluster that has lost its majority cannot become ready: the wait ends and it is not an error.
 */
export async function natsIsReady(monitorUrl: string, clusterSize: number): Promise<void> {
  const giveUpAt = Date.now() + 20_000;
  while (Date.now() < giveUpAt) {
    const path = clusterSize === 1 ? '/healthz?js-enabled-only=true' : '/jsz';
    const answer = await fetch(monitorUrl + path).catch(() => undefined);
    if (answer?.ok && (clusterSize === 1 || hasLeader(await answer.json()))) return;
    await sleep(50);
  }
}

function hasLeader(jsz: unknown): boolean {
  return (
    typeof jsz === 'object' &&
    jsz !== null &&
    'meta_cluster' in jsz &&
    JSON.stringify(jsz.meta_cluster).includes('"leader":"n')
  );
}
