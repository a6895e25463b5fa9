/** Recognises processes of an earlier start: a pid alone may belong to another program by now. */
import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import process from 'node:process';
import { setTimeout as sleep } from 'node:timers/promises';

/** `startedAt` is empty where the system does not tell it. */
export type KnownProcess = { pid: number; startedAt: string };

type Platform = NodeJS.Platform;

/** The start time is undefined where the system does not tell it: always on Windows. */
type Seen = { isRunning: boolean; startedAt: string | undefined };

const GONE: Seen = { isRunning: false, startedAt: undefined };

/** When the system started the process; undefined when it is not running, or when nothing tells. */
export function startOf(pid: number, platform: Platform = process.platform): string | undefined {
  return look(pid, platform).startedAt;
}

/** Whether this is certainly the process that was noted. Only such a process may get a signal. */
export function isSame({ pid, startedAt }: KnownProcess, platform: Platform = process.platform): boolean {
  return startedAt !== '' && startOf(pid, platform) === startedAt;
}

/** Whether the process may still run: its pid is in use, and no start time tells that another program has it. */
export function mayRun({ pid, startedAt }: KnownProcess, platform: Platform = process.platform): boolean {
  const seen = look(pid, platform);
  if (!seen.isRunning || startedAt === '' || seen.startedAt === undefined) return seen.isRunning;
  return seen.startedAt === startedAt;
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

function look(pid: number, platform: Platform): Seen {
  if (!isRunning(pid)) return GONE;
  if (platform === 'win32') return { isRunning: true, startedAt: undefined };
  try {
    return platform === 'linux' ? lookInProc(pid) : { isRunning: true, startedAt: askPs(pid) };
  } catch {
    // It has ended since, or its start time is hidden from this user.
    return { isRunning: isRunning(pid), startedAt: undefined };
  }
}

function lookInProc(pid: number): Seen {
  // The name in parentheses may hold spaces; the state is the first field after it, the start time the twentieth.
  const fields = readFileSync(`/proc/${pid}/stat`, 'utf8').split(') ').at(-1)?.split(' ') ?? [];
  return fields[0] === 'Z' ? GONE : { isRunning: true, startedAt: fields[19] };
}

/** The same text in every time zone and language. */
function askPs(pid: number): string {
  const env = { PATH: '/bin:/usr/bin', TZ: 'UTC', LC_ALL: 'C' };
  return execFileSync('ps', ['-o', 'lstart=', '-p', String(pid)], { encoding: 'utf8', env }).trim();
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
