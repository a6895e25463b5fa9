import { randomBytes } from 'node:crypto';
import { join } from 'node:path';
import { startNatsCluster } from '@millrace/engines';
import { controlClient } from '../control-client.ts';
import { controlPortIn } from '../open-control-scene.ts';
import { settingsFor } from '../open-scene.ts';
import type { FaultRun } from '../run-fault.ts';
import { type ServerProcess, serverProcess } from '../server-process.ts';
import { startDatabase } from '../start-database.ts';

export type SignInScene = AsyncDisposable & { server: ServerProcess; port: number };

export const PASSWORD = 'correct horse battery';

/** A control process with accounts for these people, set up over HTTP like any installation. */
export async function openSignInScene(run: FaultRun, people: readonly string[]): Promise<SignInScene> {
  await using parts = new AsyncDisposableStack();
  const cluster = parts.use(await startNatsCluster({ nodes: 1, dir: run.dir }));
  const database = parts.use(await startDatabase());
  const token = randomBytes(24).toString('hex');
  const settings = {
    ...settingsFor(cluster.url, 1),
    MILLRACE_ROLES: 'control',
    MILLRACE_DATABASE_URL: database.serviceUrl,
    MILLRACE_MIGRATION_DATABASE_URL: database.url,
    MILLRACE_KEYS: `1:${randomBytes(32).toString('base64')}`,
    MILLRACE_BOOTSTRAP_TOKEN: token,
    MILLRACE_CONTROL_PORT: '0',
    MILLRACE_METRICS_PORT: '0',
  };
  const server = parts.use(await serverProcess(settings, join(run.dir, 'control.log')));
  const port = controlPortIn(await server.start());
  const control = controlClient(`http://127.0.0.1:${port}`, token);
  for (const email of people) {
    const invited = await control.ask('POST', '/api/v1/invitations', { email, role: 'developer' });
    const body = { token: invited.body.token, name: email, password: PASSWORD };
    const joined = await control.ask('POST', '/api/v1/invitations/accept', body);
    if (joined.status !== 201) throw new Error(`${email} could not join: ${joined.status} ${joined.body.code ?? ''}`);
  }
  const open = parts.move();
  return { server, port, [Symbol.asyncDispose]: () => open.disposeAsync() };
}
