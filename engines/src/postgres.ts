import { type SpawnSyncOptions, spawnSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { chownSync, existsSync, mkdirSync, readdirSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { LOOPBACK } from './net-host.ts';
import { ENGINES_DIR, ROOT_DIR } from './paths.ts';

/** PostgreSQL refuses to run as root, so root lends it to the `postgres` user, in a folder that user can reach. */
export function postgresDataDir(): string {
  if (process.getuid?.() !== 0) return join(ENGINES_DIR, 'run', 'postgres');
  const checkout = createHash('sha256').update(ROOT_DIR).digest('hex').slice(0, 12);
  return join(tmpdir(), `millrace-postgres-${checkout}`);
}

export function startPostgres(port: number): void {
  const dataDir = postgresDataDir();
  if (!existsSync(join(dataDir, 'PG_VERSION'))) createDatabaseFolder(dataDir);
  const settings = `-p ${port} -c listen_addresses=127.0.0.1 -c unix_socket_directories=${dataDir}`;
  runPostgres('pg_ctl', ['start', '-w', '-D', dataDir, '-l', join(dataDir, 'server.log'), '-o', settings]);
  const adminUrl = postgresUrl('postgres', port, 'postgres');
  try {
    if (runSql(adminUrl, "SELECT 1 FROM pg_database WHERE datname = 'millrace'").trim() === '1') return;
  } catch (error) {
    const why = 'the database is one of an older version: `scripts/engines down --wipe` before starting anew';
    throw new Error(`${why} (${String(error)})`, { cause: error });
  }
  runSql(adminUrl, 'CREATE DATABASE millrace');
  runSql(adminUrl, loginsSql('millrace'));
}

/** As in production: one login owns the tables and migrates, the other one is the service's and can do less. */
export const OWNER_LOGIN = 'millrace_owner';
export const SERVICE_LOGIN = 'millrace';

export function loginsSql(database: string): string {
  return `CREATE ROLE millrace_app NOLOGIN;
    CREATE ROLE ${OWNER_LOGIN} LOGIN IN ROLE millrace_app;
    CREATE ROLE ${SERVICE_LOGIN} LOGIN IN ROLE millrace_app;
    ALTER DATABASE ${database} OWNER TO ${OWNER_LOGIN}`;
}

export function postgresUrl(login: string, port: number, database: string, address = LOOPBACK): string {
  return `postgres://${login}@${address}:${port}/${database}`;
}

export function stopPostgres(): void {
  if (isPostgresRunning()) runPostgres('pg_ctl', ['stop', '-w', '-m', 'fast', '-D', postgresDataDir()]);
}

export function isPostgresRunning(): boolean {
  const dataDir = postgresDataDir();
  return existsSync(dataDir) && spawnSync(binary('pg_ctl'), ['status', '-D', dataDir], postgresOwner()).status === 0;
}

export function removePostgresData(): void {
  rmSync(postgresDataDir(), { recursive: true, force: true });
}

/** Debian keeps the server's programs out of PATH, in a folder per version. */
export function findPostgresFolder(): string | undefined {
  const versions = existsSync('/usr/lib/postgresql') ? readdirSync('/usr/lib/postgresql') : [];
  const folders = versions.sort((a, b) => Number(b) - Number(a)).map((version) => `/usr/lib/postgresql/${version}/bin`);
  const inPath = (process.env['PATH'] ?? '').split(':');
  return [...folders, ...inPath].find((folder) => existsSync(join(folder, 'initdb')));
}

function createDatabaseFolder(dataDir: string): void {
  mkdirSync(dataDir, { recursive: true, mode: 0o700 });
  const { uid, gid } = postgresOwner();
  if (uid !== undefined && gid !== undefined) chownSync(dataDir, uid, gid);
  runPostgres('initdb', ['-D', dataDir, ...INITDB_OPTIONS]);
}

export const INITDB_OPTIONS = ['-U', 'postgres', '--auth=trust', '--encoding=UTF8', '--no-locale'];

export function runSql(url: string, sql: string): string {
  return runPostgres('psql', ['-v', 'ON_ERROR_STOP=1', '-qtA', '-c', sql, url]);
}

/** `folder`: where the programs of another version are. */
export function runPostgres(program: string, args: string[], folder?: string, input?: string): string {
  const found = folder === undefined ? binary(program) : join(folder, program);
  const done = spawnSync(found, args, { ...postgresOwner(), encoding: 'utf8', input });
  if (done.status !== 0) throw new Error(`${program} failed: ${done.stderr || done.error?.message}`);
  return done.stdout;
}

function binary(program: string): string {
  const folder = findPostgresFolder();
  if (folder === undefined) throw new Error('PostgreSQL is missing: run `scripts/engines get` or install it');
  return join(folder, program);
}

type Owner = { uid?: number; gid?: number };

let owner: Owner | undefined;

/** `cwd` is / because the postgres user may not be allowed into the folder we stand in. */
export function postgresOwner(): SpawnSyncOptions & Owner {
  owner ??= process.getuid?.() === 0 ? { uid: idOfPostgres('-u'), gid: idOfPostgres('-g') } : {};
  return { cwd: '/', stdio: 'pipe', ...owner };
}

function idOfPostgres(flag: string): number {
  return Number(spawnSync('id', [flag, 'postgres'], { encoding: 'utf8' }).stdout);
}
