/** CPU time of processes, as Linux counts it. */
import { readdirSync, readFileSync } from 'node:fs';
import type { Store } from '../../../server/src/store/open-store.ts';

/** Of the server that answers us, with all its processes. */
export async function postgresCpuMs({ store }: { store: Store }): Promise<number> {
  const [row] = await store.asSystem((tx) => tx.query<{ pid: number }>('SELECT pg_backend_pid() AS pid'));
  const postmaster = readStat(String(row?.pid))[0]?.parent ?? 0;
  const processes = readdirSync('/proc').filter((name) => /^\d+$/.test(name));
  return processes
    .flatMap(readStat)
    .filter(({ pid, parent }) => pid === postmaster || parent === postmaster)
    .reduce((sum, { ms }) => sum + ms, 0);
}

type Stat = { pid: number; parent: number; ms: number };

/** A tick is ten milliseconds. Children that have ended are counted by their parent. */
export function readStat(name: string): Stat[] {
  try {
    const text = readFileSync(`/proc/${name}/stat`, 'utf8');
    const fields = text.slice(text.lastIndexOf(')') + 2).split(' ');
    const ticks = fields.slice(11, 15).reduce((sum, field) => sum + Number(field), 0);
    return [{ pid: Number(name), parent: Number(fields[1]), ms: ticks * 10 }];
  } catch {
    return [];
  }
}
