import { readFileSync } from 'node:fs';
import type { PostgresServer } from '@millrace/engines';

/** A clock tick of Linux, the unit in which a process tells the CPU time of children that have ended. */
const TICK_US = 10_000;

/** CPU time of all processes of a PostgreSQL server so far, those that have ended included, in µs. */
export function openPostgresCpu(server: PostgresServer): () => number {
  const main = mainPid(server);
  return () => {
    const children = readFileSync(`/proc/${main}/task/${main}/children`, 'utf8').trim().split(' ');
    const living = [String(main), ...children].reduce((sum, pid) => sum + ranUs(pid), 0);
    return living + endedUs(main);
  };
}

/** Of the process that starts all others of the server. */
export function mainPid(server: PostgresServer): number {
  return Number(server.run(`SELECT split_part(pg_read_file('postmaster.pid'), E'\\n', 1)`));
}

function ranUs(pid: string): number {
  try {
    return Number(readFileSync(`/proc/${pid}/schedstat`, 'utf8').split(' ')[0]) / 1_000;
  } catch {
    // It has ended meanwhile.
    return 0;
  }
}

function endedUs(pid: number): number {
  const stat = readFileSync(`/proc/${pid}/stat`, 'utf8');
  const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
  return (Number(fields[13]) + Number(fields[14])) * TICK_US;
}
