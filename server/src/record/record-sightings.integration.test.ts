import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import { test } from 'node:test';
import type { Source, SourceEvents } from '@millrace/contract/control';
import type { Static } from 'typebox';
import { startNatsCluster } from '@millrace/engines';
import { startMigratedPostgres } from '../../testing/migrated-postgres.ts';
import { readConfig } from '../config.ts';
import { openLog } from '../log.ts';
import { startRoles } from '../start-roles.ts';
import { until } from '../../testing/until.ts';

const TOKEN = 'a-token-for-the-first-owner-of-this-test';
const log = openLog({ level: 'silent', pretty: false });

test('a source shows which of its keys were used and which events came in, within seconds', async () => {
  await using nats = await startNatsCluster();
  await using postgres = await startMigratedPostgres();
  const read = readConfig({
    MILLRACE_ROLES: 'collect,control',
    MILLRACE_HOST: '127.0.0.1',
    MILLRACE_NATS_URL: nats.url,
    MILLRACE_DATABASE_URL: postgres.serviceUrl,
    MILLRACE_MIGRATION_DATABASE_URL: postgres.url,
    MILLRACE_COLLECT_PORT: '0',
    MILLRACE_CONTROL_PORT: '0',
    MILLRACE_KEYS: `1:${randomBytes(32).toString('base64')}`,
    MILLRACE_BOOTSTRAP_TOKEN: TOKEN,
    MILLRACE_DRAIN_MS: '0',
  });
  assert.ok(read.ok);
  await using running = await startRoles(read.value, log);
  const { collectPort, control } = running;
  assert.ok(control);
  const ask = async <T>(path: string, body?: unknown): Promise<T> => {
    const init = body === undefined ? {} : { method: 'POST', body: JSON.stringify(body) };
    const headers = { Authorization: `Bearer ${TOKEN}`, 'Content-Type': 'application/json' };
    const answer = await fetch(`http://127.0.0.1:${control.port}/api/v1${path}`, { ...init, headers });
    return (answer.status === 204 ? undefined : await answer.json()) as T;
  };
  const source = await ask<Source>('/sources', { name: 'Shop' });
  const [key] = source.writeKeys;
  assert.ok(key);
  assert.equal(key.lastUsedAt, null);
  await ask(`/sources/${source.id}/events`, { name: 'Order Completed', blocked: true });

  const call = JSON.stringify({
    writeKey: key.key,
    batch: ['Order Completed', 'Signed Up', 'bad\u0000name'].map(track),
  });
  await until(
    async () =>
      (await fetch(`http://127.0.0.1:${collectPort}/v1/batch`, { method: 'POST', body: call })).status === 200,
  );
  await until(async () => (await ask<Source>(`/sources/${source.id}`)).writeKeys[0]?.lastUsedAt !== null);
  const { items } = await ask<Static<typeof SourceEvents>>(`/sources/${source.id}/events`);
  assert.deepEqual(
    items.map(({ name, blocked, lastSeenAt }) => [name, blocked, lastSeenAt !== null]),
    [
      ['Order Completed', true, true],
      ['Signed Up', false, true],
    ],
  );
});

function track(event: string) {
  return { type: 'track', userId: 'u1', event };
}
