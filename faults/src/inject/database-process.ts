/** PostgreSQL, held by a process of its own: stopping and starting it blocks that process, and the clients' clock must go on. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { startPostgresServer } from '@millrace/engines';
import { waitUntil } from '../wait-until.ts';

/** `kill` ends all its processes in the same moment; `revive` starts it unless it runs. */
export type DatabaseOrder = 'stop' | 'kill' | 'start' | 'revive' | { sql: string };

const GONE_WITHIN_MS = 10_000;

for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, () => process.exit(130));

const [, , options = '', home = '', address] = process.argv;
const place = { ...(home === '' ? {} : { home }), ...(address === undefined ? {} : { address }) };
const server = await startPostgresServer({ options, ...place });
process.on('message', (order: DatabaseOrder) => void obey(order).then(() => process.send?.('done')));

async function obey(order: DatabaseOrder): Promise<void> {
  if (typeof order === 'object') server.run(order.sql);
  else if (order === 'kill') await killAll();
  else if (order === 'stop') server.stop('immediate');
  else if (order === 'start' || !isUp()) server.start();
}

/** Its first process, while it is stopped, neither starts others nor notices that they die. */
async function killAll(): Promise<void> {
  const [first = 0] = readFileSync(join(server.dir, 'postmaster.pid'), 'utf8').split('\n').map(Number);
  process.kill(first, 'SIGSTOP');
  const children = readFileSync(`/proc/${first}/task/${first}/children`, 'utf8').trim().split(' ').filter(Boolean);
  const pids = [...children.map(Number), first];
  for (const pid of pids) process.kill(pid, 'SIGKILL');
  await waitUntil('every process of PostgreSQL is gone', GONE_WITHIN_MS, () => !pids.some(isThere));
}

function isThere(pid: number): boolean {
  try {
    return process.kill(pid, 0);
  } catch {
    return false;
  }
}

function isUp(): boolean {
  try {
    return server.run('SELECT 1').trim() === '1';
  } catch {
    return false;
  }
}

// Also when the parent process was killed.
process.once('disconnect', () => void server[Symbol.asyncDispose]().then(() => process.exit(0)));
process.send?.(JSON.stringify({ url: server.url, serviceUrl: server.serviceUrl }));
