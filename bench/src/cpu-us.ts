import { readdirSync, readFileSync } from 'node:fs';

/** User and system time of a process: the sum over its threads, since only theirs is told in nanoseconds and not in ticks. */
export function cpuUs(pid: number): number {
  const threads = readdirSync(`/proc/${pid}/task`);
  return threads.reduce((sum, thread) => sum + threadNs(pid, thread), 0) / 1_000;
}

function threadNs(pid: number, thread: string): number {
  const [ranNs] = readFileSync(`/proc/${pid}/task/${thread}/schedstat`, 'utf8').split(' ');
  return Number(ranNs);
}
