/** Recognises processes of an earlier start: a pid alone may belong to another program by now. */
import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import process from 'node:process';
import { setTimeout as sleep } from 'node:timers/promises';

export type KnownProcess = { pid: number; startedAt: string };

/** When the system started the process; undefined when it is not running. */
export function startOf(pid: number): string | undefined {
  if (!isRunning(pid)) return undefined;
  try {
    if (process.platform === 'linux') {
      // The name in parentheses may hold spaces; the state is the first field after it, the start time the twentieth.
      const fields = readFileSync(`/proc/${pid}/stat`, 'utf8').split(') ').at(-1)?.split(' ') ?? [];
      return fields[0] === 'Z' ? undefined : fields[19];
    }
    if (process.platform === 'win32') return 'running';
    return execFileSync('ps', ['-o', 'lstart=', '-p', String(pid)], { encoding: 'utf8' }).trim();
  } catch {
    return undefined;
  }
}

export function isSame({ pid, startedAt }: KnownProcess): boolean {
  return startOf(pid) === startedAt;
}

/** Asks a process to end, and kills it when it does not. */
export async function endProcess(known: KnownProcess, signal: NodeJS.Signals, patienceMs = 10_000): Promise<void> {
  const giveUpAt = Date.now() + patienceMs;
  if (isSame(known)) send(known.pid, signal);
  while (isSame(known)) {
    if (Date.now() > giveUpAt) send(known.pid, 'SIGKILL');
    await sleep(20);
  }
}

function send(pid: number, signal: NodeJS.Signals): void {
  try {
    process.kill(pid, signal);
  } catch {
    // It has ended between the look and the signal.
  }
}

/** A process of another user counts as running. */
function isRunning(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === 'EPERM';
  }
}
