/** PostgreSQL, held by a process of its own: stopping and starting it blocks that process, and the clients' clock must go on. */
import { startPostgresServer } from '@millrace/engines';

/** `revive` starts it unless it runs. */
export type DatabaseOrder = 'stop' | 'start' | 'revive' | { sql: string };

for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, () => process.exit(130));

const [, , options = ''] = process.argv;
const server = await startPostgresServer({ options });
process.on('message', (order: DatabaseOrder) => {
  if (typeof order === 'object') server.run(order.sql);
  else if (order === 'stop') server.stop('immediate');
  else if (order === 'start' || !isUp()) server.start();
  process.send?.('done');
});

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
