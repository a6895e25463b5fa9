/**
 * The data folder of `millrace dev`. It belongs to Millrace when its `dev.json` says so, or when it was empty; in any other folder
 * `millrace dev` writes and removes nothing. One process at a time holds it.
 */
import { existsSync, mkdirSync, readdirSync, readFileSync, rmSync, statfsSync, writeFileSync } from 'node:fs';
import { homedir } from 'node:os';
import { join } from 'node:path';
import process from 'node:process';
import { Failure } from '../output/failures.ts';
import { hasMark, STATE } from './dev-state.ts';
import { type EngineProcess, HOLDER, lockFolder, parseHolder } from './folder-lock.ts';

export type DataFolder = Disposable & {
  dir: string;
  /** Notes an engine, so that a later start can end it if this process is killed. */
  note(engine: EngineProcess): void;
};

/** Every name that `millrace dev` gives to something in its folder. --wipe removes nothing else. */
const OWN_NAMES = [
  /^dev\.json(\.new)?$/,
  /^holder\.json(\.\d+)?$/,
  /^\.probe-\d+$/,
  /^nats$/,
  /^postgresql(\.making)?$/,
  /^pglite$/,
  /^programs-\d[\w.+-]*$/,
  /^initdb-password$/,
  /^(nats|postgresql|pglite|server)\.log$/,
];
/** A start that was killed before it wrote its state leaves only these behind. */
const FIRST_NAMES = OWN_NAMES.slice(1, 3);
/** A first start takes about 90 MB; the engines need room to work. */
const LEAST_FREE_BYTES = 200_000_000;

/** PostgreSQL does not run as root, and the user it then runs as may not look into root's home. */
export function defaultDataDir(): string {
  return process.getuid?.() === 0 ? '/var/lib/millrace-dev' : join(homedir(), '.millrace', 'dev');
}

export async function openDataFolder(dir: string, { wipe }: { wipe: boolean }): Promise<DataFolder> {
  makeFolder(dir);
  mustBeOurs(dir, wipe);
  const lock = await lockFolder(dir);
  try {
    if (wipe) removeContents(dir);
    mustHaveRoom(dir);
  } catch (error) {
    lock[Symbol.dispose]();
    throw error;
  }
  return { dir, note: (engine) => lock.note(engine), [Symbol.dispose]: () => lock[Symbol.dispose]() };
}

function makeFolder(dir: string): void {
  try {
    mkdirSync(dir, { recursive: true, mode: 0o755 });
    const probe = join(dir, `.probe-${process.pid}`);
    writeFileSync(probe, '');
    rmSync(probe);
  } catch (error) {
    throw folderFailure(error, dir) ?? error;
  }
}

function mustBeOurs(dir: string, wipe: boolean): void {
  const state = join(dir, STATE);
  const isOurs = existsSync(state) ? hasMark(readFileSync(state, 'utf8')) : isUnused(dir);
  if (isOurs) return;
  throw new Failure(`${dir} holds other files, so ${wipe ? '--wipe' : 'Millrace'} leaves it alone.`, {
    todo: 'Name an empty folder, or one that `millrace dev` has made: --data DIR.',
  });
}

function isUnused(dir: string): boolean {
  const names = readdirSync(dir);
  if (!names.every((name) => FIRST_NAMES.some((own) => own.test(name)))) return false;
  const holder = names.includes(HOLDER) ? readFileSync(join(dir, HOLDER), 'utf8') : '';
  return holder === '' || parseHolder(holder) !== undefined;
}

/** The lock stays: this process holds the folder. The state goes last, because the folder is ours by it. */
function removeContents(dir: string): void {
  const names = readdirSync(dir).filter((name) => OWN_NAMES.some((own) => own.test(name)));
  for (const name of [...names.filter((each) => each !== STATE), STATE]) {
    if (name !== HOLDER) rmSync(join(dir, name), { recursive: true, force: true });
  }
}

function mustHaveRoom(dir: string): void {
  const { bavail, bsize } = statfsSync(dir);
  if (bavail * bsize < LEAST_FREE_BYTES) throw diskFull(dir);
}

export function diskFull(dir: string): Failure {
  const { bavail, bsize } = statfsSync(dir);
  const free = Math.floor((bavail * bsize) / 1e6);
  return new Failure(`The disk of ${dir} is full: ${free} MB are free, and Millrace needs ${LEAST_FREE_BYTES / 1e6}.`, {
    todo: 'Free some space, or name a folder on another disk: --data DIR.',
  });
}

/** The sentence for an error of the file system; undefined for every other error. */
export function folderFailure(error: unknown, dir: string): Failure | undefined {
  switch ((error as NodeJS.ErrnoException).code) {
    case 'EACCES':
    case 'EPERM':
    case 'EROFS':
    case 'ENOTDIR':
    case 'EEXIST':
      return new Failure(`Millrace cannot write into ${dir} (${(error as Error).message}).`, {
        todo: 'Name a folder that you can write into: --data DIR.',
      });
    case 'ENOSPC':
    case 'EDQUOT':
      return diskFull(dir);
    default:
      return undefined;
  }
}
