import { type SpawnSyncOptions, spawnSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { chownSync, existsSync, mkdirSync, readdirSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
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
  const exists = runPostgres('psql', [
    ...connection(port),
    '-tAc',
    "select 1 from pg_database where datname='millrace'",
  ]);
  if (exists.trim() !== '1') runPostgres('psql', [...connection(port), '-c', 'create database millrace']);
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
  runPostgres('initdb', ['-D', dataDir, '-U', 'millrace', '--auth=trust', '--encoding=UTF8', '--no-locale']);
}

function connection(port: number): string[] {
  return ['-h', '127.0.0.1', '-p', String(port), '-U', 'millrace', '-d', 'postgres'];
}

export function runPostgres(program: string, args: string[]): string {
  const done = spawnSync(binary(program), args, { ...postgresOwner(), encoding: 'utf8' });
  if (done.status !== 0) throw new Error(`${program} failed: ${done.stderr || done.error?.message}`);
  return done.stdout;
}

function binary(program: string): string {
  const folder = findPostgresFolder();
  if (folder === undefined) throw new Error('PostgreSQL is missing: run `scripts/engines get` or install it');
  return join(folder, program);
}

/** `cwd` is / because the postgres user may not be allowed into the folder we stand in. */
export function postgresOwner(): SpawnSyncOptions & { uid?: number; gid?: number } {
  const options = { cwd: '/', stdio: 'pipe' as const };
  if (process.getuid?.() !== 0) return options;
  const idOf = (flag: string) => Number(spawnSync('id', [flag, 'postgres'], { encoding: 'utf8' }).stdout);
  return { ...options, uid: idOf('-u'), gid: idOf('-g') };
}
