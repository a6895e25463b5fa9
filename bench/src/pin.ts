import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { availableParallelism, cpus } from 'node:os';

const COUNT = cpus().length;
export const LAST_CORE = String(COUNT - 1);
/** All others. */
export const FIRST_CORES = `0-${Math.max(0, COUNT - 2)}`;

/** A process, those that it has started, and so on. */
export function familyOf(pid: number): number[] {
  const children = readFileSync(`/proc/${pid}/task/${pid}/children`, 'utf8').split(' ').filter(Boolean);
  return [pid, ...children.flatMap((child) => familyOf(Number(child)))];
}

/** Binds all threads of a process. */
export function pin(pid: number, cores: string): void {
  execFileSync('taskset', ['-a', '-c', '-p', cores, String(pid)], { stdio: 'ignore' });
}

/** `npm run bench` keeps to one core, and so would all that we start; here each process shall run where there is room. */
export function useAllCores(): void {
  const all = `0-${Math.max(COUNT, availableParallelism()) - 1}`;
  pin(process.pid, all);
}
