/** A process that cannot listen ends: a supervisor then starts it again, or tells a person. */
import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { createServer } from 'node:http';
import { join } from 'node:path';
import { after, before, suite, test } from 'node:test';
import { freePorts, type NatsCluster, type PostgresServer, startNatsCluster } from '@millrace/engines';
import { startMigratedPostgres } from '../testing/migrated-postgres.ts';
import { stackSettings } from '../testing/stack.ts';

const MAIN = join(import.meta.dirname, '../src/main.ts');
const opened = new AsyncDisposableStack();
let nats: NatsCluster;
let postgres: PostgresServer;

before(async () => {
  nats = opened.use(await startNatsCluster());
  postgres = opened.use(await startMigratedPostgres());
});
after(() => opened.disposeAsync());

suite('a process whose port is taken', () => {
  for (const [role, setting] of [
    ['collect', 'MILLRACE_COLLECT_PORT'],
    ['control', 'MILLRACE_CONTROL_PORT'],
  ] as const) {
    test(`ends with 1 and says which one, as ${role}`, { timeout: 120_000 }, async () => {
      const [port = 0] = await freePorts(1);
      await using other = createServer().listen(port, '127.0.0.1');
      await once(other, 'listening');
      const settings = { ...stackSettings(nats.url, postgres), MILLRACE_ROLES: role, [setting]: String(port) };
      // oxlint-disable-next-line node/no-process-env -- where Node keeps compiled modules, and the rest that a program needs
      const server = spawn(process.execPath, [MAIN], { env: { ...process.env, ...settings } });
      let said = '';
      for (const output of [server.stdout, server.stderr]) output.on('data', (chunk) => (said += String(chunk)));
      const [code] = (await once(server, 'close')) as [number | null];
      assert.equal(code, 1, said);
      assert.ok(said.includes(`EADDRINUSE: address already in use 127.0.0.1:${port}`), said);
    });
  }
});
