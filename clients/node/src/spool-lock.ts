import type fs from 'node:fs';
import { SpoolError } from './errors.ts';

type Fs = typeof fs;

/** Directories that clients of this very process use: their lock files carry our own process id. */
const ours = new Set<string>();

/**
 * One process at a time: two would send the same calls. The lock is a file with the id of the process and when it started;
 * a process that ended, however it ended, no longer has it. Processes that cannot see each other (containers which share a
 * volume) cannot be kept apart this way.
 */
export function lockDirectory(fs: Fs, directory: string): () => void {
  const file = `${directory}/lock`;
  const mine = `${process.pid} ${startOf(fs, process.pid)}`;
  const draft = `${file}.${process.pid}`;
  if (ours.has(directory)) throw locked(directory, mine);
  // Made anew, so that a link of that name is removed and not followed.
  fs.rmSync(draft, { force: true });
  fs.writeFileSync(draft, mine, { mode: 0o600, flag: 'wx' });
  try {
    // Bounded, because each round ends with the lock of a process that has ended out of the way.
    for (let round = 0; !link(fs, draft, file); round += 1) {
      if (round === 3 || !removeStale(fs, file)) throw locked(directory, read(fs, file) ?? '');
    }
  } finally {
    fs.rmSync(draft, { force: true });
  }
  ours.add(directory);
  return () => {
    ours.delete(directory);
    if (read(fs, file) === mine) fs.rmSync(file, { force: true });
  };
}

function locked(directory: string, owner: string): SpoolError {
  const pid = owner.split(' ')[0];
  return new SpoolError('spool_locked', `The spool ${directory} is used by process ${pid}. Give each process its own.`);
}

/** Creates the file with its content in one step; false when there is one. */
function link(fs: Fs, draft: string, file: string): boolean {
  try {
    fs.linkSync(draft, file);
    return true;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'EEXIST') return false;
    throw error;
  }
}

function removeStale(fs: Fs, file: string): boolean {
  const seen = read(fs, file);
  if (seen === undefined) return true;
  if (isAlive(fs, seen)) return false;
  const aside = `${file}.stale.${process.pid}`;
  fs.renameSync(file, aside);
  const moved = read(fs, aside);
  // Another process was quicker and this is its lock: give it back.
  if (moved !== seen) link(fs, aside, file);
  fs.rmSync(aside, { force: true });
  return moved === seen;
}

function isAlive(fs: Fs, owner: string): boolean {
  const [pidText = '', startedAt] = owner.split(' ');
  const pid = Number(pidText);
  if (!Number.isSafeInteger(pid) || pid <= 0) return false;
  try {
    process.kill(pid, 0);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ESRCH') return false;
  }
  // The same id is given to many processes in turn; in a container ours is mostly 1.
  return startOf(fs, pid) === startedAt;
}

/** When the process started, as Linux counts it; elsewhere the id has to be enough. */
function startOf(fs: Fs, pid: number): string {
  const stat = read(fs, `/proc/${pid}/stat`);
  return stat?.slice(stat.lastIndexOf(')') + 2).split(' ')[19] ?? '-';
}

function read(fs: Fs, file: string): string | undefined {
  try {
    return fs.readFileSync(file, 'utf8');
  } catch {
    return undefined;
  }
}
