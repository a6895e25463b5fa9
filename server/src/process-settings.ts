/** How many processes there are, and which of them this one is. */
import cluster from 'node:cluster';
import { availableParallelism, totalmem } from 'node:os';
import { getHeapStatistics } from 'node:v8';
import { heapFlags } from './processes/heap-flags.ts';
import { type Machine, processesFor } from './processes/plan-processes.ts';
import { CHILD_VARIABLE, type ChildPlan } from './processes/start-child.ts';
import type { Environment, Reader } from './read-setting.ts';

const MOST = 64;

export function readProcesses(read: Reader): number {
  const text = read.text('MILLRACE_PROCESSES');
  if (text === 'auto') return processesFor(thisMachine());
  const count = Number(text);
  if (text !== '' && Number.isInteger(count) && count >= 1 && count <= MOST) return count;
  read.problem('MILLRACE_PROCESSES', `must be auto or a whole number from 1 to ${MOST}`);
  return 1;
}

/** Both numbers respect the limits of a container or unit; without a limit of memory Node tells 0 or more than there is. */
function thisMachine(): Machine {
  const limitBytes = process.constrainedMemory();
  return {
    cores: availableParallelism(),
    limitBytes: limitBytes > 0 ? limitBytes : undefined,
    totalBytes: totalmem(),
  };
}

/** Flags of Node for each of so many children, beside those of this process. */
export function readChildFlags(env: Environment, processes: number): string[] {
  const given = [env['NODE_OPTIONS'] ?? '', ...process.execArgv].join(' ');
  return heapFlags({ ...thisMachine(), processes, given, ownHeapBytes: getHeapStatistics().heap_size_limit });
}

/** Undefined unless a supervisor has started this process: another one may have inherited the variable, or anything under its name. */
export function readChild(env: Environment): ChildPlan | undefined {
  const text = cluster.isWorker ? env[CHILD_VARIABLE] : undefined;
  return text === undefined ? undefined : (JSON.parse(text) as ChildPlan);
}
