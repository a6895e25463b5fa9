import { readdirSync, readFileSync } from 'node:fs';

/** How much of one core a process used meanwhile. */
export async function cpuOf(pid: number, work: () => Promise<void>): Promise<number> {
  const before = cpuSeconds(pid);
  const startedAt = performance.now();
  await work();
  return (cpuSeconds(pid) - before) / ((performance.now() - startedAt) / 1_000);
}

/** In nanoseconds, thread by thread: /proc/PID/stat only knows hundredths of a second. */
function cpuSeconds(pid: number): number {
  const threads = readdirSync(`/proc/${pid}/task`).map((thread) => {
    const [used] = readFileSync(`/proc/${pid}/task/${thread}/schedstat`, 'utf8').split(' ');
    return Number(used);
  });
  return threads.reduce((sum, used) => sum + used, 0) / 1e9;
}

export function median(values: readonly number[]): number {
  return values.toSorted((a, b) => a - b)[Math.floor(values.length / 2)] ?? NaN;
}

export function round(value: number): number {
  return Math.round(value * 10_000) / 10_000;
}
