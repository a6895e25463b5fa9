/**
 * The data folder of `millrace dev`. One process at a time holds it: `holder.json` names that process and the engines that it started.
 * A holder that was killed leaves the file behind; the next start sees that the process is gone and ends the engines it has left.
 */
import { existsSync, mkdirSync, readdirSync, readFileSync, rmSync, statfsSync, writeFileSync } from 'node:fs';
import { homedir } from 'node:os';
import { join } from 'node:path';
import process from 'node:process';
import { Failure } from '../output/failures.ts';
import { endProcess, isSame, type KnownProcess, startOf } from './processes.ts';

export type EngineProcess = KnownProcess & { name: string; stopSignal: NodeJS.Signals };
type Holder = KnownProcess & { engines: EngineProcess[] };

export type DataFolder = Disposable & {
  dir: string;
  /** Notes an engine, so that a later start can end it if this process is killed. */
  note(engine: EngineProcess): void;
};

const HOLDER = 'holder.json';
/** A first start takes about 90 MB; the engines need room to work. */
const LEAST_FREE_BYTES = 200_000_000;

/** PostgreSQL does not run as root, and the user it then runs as may not look into root's home. */
export function defaultDataDir(): string {
  return process.getuid?.() === 0 ? '/var/lib/millrace-dev' : join(homedir(), '.millrace', 'dev');
}

export async function openDataFolder(dir: string, { wipe }: { wipe: boolean }): Promise<DataFolder> {
  makeFolder(dir);
  const file = join(dir, HOLDER);
  await takeOver(file, dir);
  if (wipe) removeContents(dir);
  mustHaveRoom(dir);
  const holder: Holder = { ...ownProcess(), engines: [] };
  const write = () => writeFileSync(file, JSON.stringify(holder), { mode: 0o600 });
  write();
  return {
    dir,
    note(engine) {
      holder.engines.push(engine);
      write();
    },
    [Symbol.dispose]: () => rmSync(file, { force: true }),
  };
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

/** Fails while another process holds the folder; ends the engines of one that was killed. */
async function takeOver(file: string, dir: string): Promise<void> {
  const before = readHolder(file);
  if (before === undefined) return;
  if (isSame(before)) {
    throw new Failure(`Another \`millrace dev\` (process ${before.pid}) uses ${dir}.`, {
      todo: 'Stop it with Ctrl-C in its terminal, or give this one a folder of its own: --data DIR.',
    });
  }
  await Promise.all(before.engines.map((engine) => endProcess(engine, engine.stopSignal)));
}

/** A file that was cut off while it was written names no engine that can be told from others. */
function readHolder(file: string): Holder | undefined {
  if (!existsSync(file)) return undefined;
  try {
    return JSON.parse(readFileSync(file, 'utf8')) as Holder;
  } catch {
    return undefined;
  }
}

function removeContents(dir: string): void {
  const isOurs = existsSync(join(dir, 'dev.json')) || readdirSync(dir).every((name) => name === HOLDER);
  if (!isOurs) {
    throw new Failure(`${dir} holds other files, so --wipe leaves it alone.`, {
      todo: 'Name a folder that `millrace dev` has made, or remove the files yourself.',
    });
  }
  for (const name of readdirSync(dir)) rmSync(join(dir, name), { recursive: true, force: true });
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

function ownProcess(): KnownProcess {
  return { pid: process.pid, startedAt: startOf(process.pid) ?? '' };
}
