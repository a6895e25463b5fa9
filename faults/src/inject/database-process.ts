/** PostgreSQL, held by a process of its own: stopping and starting it blocks that process, and the clients' clock must go on. */
import { startPostgresServer } from '@millrace/engines';

export type DatabaseOrder = 'stop' | 'start';

for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, () => process.exit(130));

const server = await startPostgresServer();
process.on('message', (order: DatabaseOrder) => {
  if (order === 'stop') server.stop('immediate');
  else server.start();
  process.send?.('done');
});
// Also when the parent process was killed.
process.once('disconnect', () => void server[Symbol.asyncDispose]().then(() => process.exit(0)));
process.send?.(JSON.stringify({ url: server.url, serviceUrl: server.serviceUrl }));
