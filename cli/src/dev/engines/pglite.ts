/** PGlite, PostgreSQL as WebAssembly: slower, but it runs wherever Node does. A process of its own keeps it out of the server's way. */
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import process from 'node:process';
import { isDatabaseUp } from '@millrace/server/dev-database';
import type { DataFolder } from '../data-folder.ts';
import { freePort } from '../ports.ts';
import type { Database } from './database.ts';
import { startEngine } from './spawn-engine.ts';

export async function startPglite(folder: DataFolder): Promise<Database> {
  const port = await freePort();
  const url = `postgres://postgres@127.0.0.1:${port}/postgres?sslmode=disable`;
  const bundled = join(import.meta.dirname, 'pglite-server.js');
  const program = existsSync(bundled) ? bundled : join(import.meta.dirname, 'pglite-server.ts');
  const engine = await startEngine(
    {
      name: 'PGlite',
      program: process.execPath,
      args: [program, join(folder.dir, 'pglite'), String(port)],
      logFile: join(folder.dir, 'pglite.log'),
      stopSignal: 'SIGTERM',
      killSignal: 'SIGKILL',
      isReady: () => isDatabaseUp(url),
    },
    folder,
  );
  return { ...engine, urls: { owner: url, service: url } };
}
