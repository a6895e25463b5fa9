import { readFileSync } from 'node:fs';

export type Usage = { at: number; cpuMs: number; rssMb: number };

/** Linux counts processor time in hundredths of a second. */
const TICK_MS = 10;

/** The CPU and memory that a process has used so far, by /proc. */
export function usageOf(pid: number | undefined): Usage {
  const stat = readFileSync(`/proc/${pid}/stat`, 'utf8');
  // The name, in brackets, may hold anything.
  const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
  const rss = /VmRSS:\s+(\d+)/.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1];
  return {
    at: performance.now(),
    cpuMs: (Number(fields[11]) + Number(fields[12])) * TICK_MS,
    rssMb: Math.round(Number(rss) / 1_024),
  };
}

/** Percent of one core between two moments. */
export function cpuPercent(from: Usage, to: Usage): number {
  return Math.round(((to.cpuMs - from.cpuMs) / (to.at - from.at)) * 100);
}
