import assert from 'node:assert/strict';
import { suite, test } from 'node:test';
import { Client } from 'pg';
import { startNatsCluster, startPostgresServer } from '@millrace/engines';
import { readConfig } from '../src/config.ts';
import { startRoles } from '../src/start-roles.ts';
import { openLogLines } from '../testing/log-lines.ts';
import { openReceiver } from '../testing/receiver.ts';
import { addScene, overHttp, stackSettings } from '../testing/stack.ts';
import { until } from '../testing/until.ts';

const FUTURE = (mark: string) => `INSERT INTO schema_migrations VALUES ('9999_future.sql', 'x', now(), '${mark}')`;

suite('a process with all roles, on a database that a newer version has migrated', () => {
  test('collects, delivers and serves when the mark allows it, and collects and delivers when it does not', async () => {
    await using nats = await startNatsCluster({ nodes: 1 });
    await using postgres = await startPostgresServer();
    await using receiver = await openReceiver();
    const read = readConfig({ ...stackSettings(nats.url, postgres), MILLRACE_METRICS_PORT: '0' });
    assert.ok(read.ok);
    const told = openLogLines();
    const start = () => startRoles(read.value, told.log);
    let running = await start();
    await using _ = { [Symbol.asyncDispose]: async () => running[Symbol.asyncDispose]() };
    const stack = overHttp({
      controlUrl: () => `http://127.0.0.1:${running.control?.port}`,
      collectUrl: () => `http://127.0.0.1:${running.collectPort}`,
    });
    const { writeKey } = await addScene(stack, receiver.url);
    const restart = async () => {
      await running[Symbol.asyncDispose]();
      running = await start();
    };
    const readiness = async () => {
      const answer = await fetch(`http://127.0.0.1:${running.metricsPort}/readyz`);
      return { status: answer.status, body: (await answer.json()) as { status: string; missing?: string[] } };
    };
    const flows = async (event: string) => {
      assert.equal(await stack.send(writeKey, [{ type: 'track', event, userId: 'u' }]), 200);
      await until(() => receiver.received.some(({ body }) => body.includes(event)), 60_000);
    };

    postgres.run(FUTURE('0.0.1'));
    await restart();
    await flows('allowed');
    assert.equal((await stack.ask('GET', '/sources')).status, 200);
    assert.deepEqual(told.of('database.newer')[0]?.['unknown'], ['9999_future.sql']);
    assert.deepEqual(await readiness(), { status: 200, body: { status: 'ready' } });

    postgres.run(`DELETE FROM schema_migrations WHERE name = '9999_future.sql'; ${FUTURE('99.0.0')}`);
    await restart();
    await flows('refused');
    const { status, body } = await stack.ask<{ code: string; errors: { message: string }[] }>('GET', '/sources');
    assert.deepEqual([status, body.code], [503, 'database_refused']);
    assert.match(body.errors[0]?.message ?? '', /9999_future.sql.* start version 99.0.0 or newer/);
    assert.match(String(told.of('database.refused')[0]?.['error']), /9999_future.sql/);
    const ready = await readiness();
    assert.equal(ready.status, 200, 'a load balancer must not take collect away');
    assert.match(ready.body.missing?.[0] ?? '', /control does not use the database: .*9999_future.sql/);

    postgres.run(`DELETE FROM schema_migrations WHERE name = '9999_future.sql'`);
    await until(async () => (await stack.ask('GET', '/sources')).status === 200, 60_000);
    await until(async () => (await readiness()).body.missing === undefined, 60_000);
    assert.deepEqual((await readiness()).body, { status: 'ready' });
  });

  test('collects and delivers whatever keeps control from the database, and control says what it is', async () => {
    await using nats = await startNatsCluster({ nodes: 1 });
    await using postgres = await startPostgresServer();
    await using receiver = await openReceiver();
    const settings = { ...stackSettings(nats.url, postgres), MILLRACE_METRICS_PORT: '0' };
    const told = openLogLines();
    const start = (change: Record<string, string> = {}) => {
      const read = readConfig({ ...settings, ...change });
      assert.ok(read.ok);
      return startRoles(read.value, told.log);
    };
    let running = await start();
    await using _ = { [Symbol.asyncDispose]: async () => running[Symbol.asyncDispose]() };
    const stack = overHttp({
      controlUrl: () => `http://127.0.0.1:${running.control?.port}`,
      collectUrl: () => `http://127.0.0.1:${running.collectPort}`,
    });
    const { writeKey } = await addScene(stack, receiver.url);
    const isRefused = async (reason: RegExp) => {
      const { status, body } = await stack.ask<{ code: string; errors: { message: string }[] }>('GET', '/sources');
      assert.deepEqual([status, body.code], [503, 'database_refused']);
      assert.match(body.errors[0]?.message ?? '', reason);
      assert.match(String(told.of('database.refused').at(-1)?.['error']), reason);
    };
    const isReady = async (reason: RegExp) => {
      const ready = await fetch(`http://127.0.0.1:${running.metricsPort}/readyz`);
      assert.equal(ready.status, 200, 'a load balancer must not take collect away');
      assert.match(((await ready.json()) as { missing: string[] }).missing[0] ?? '', reason);
    };
    const owner = new URL(postgres.url).username;
    const cases = [
      {
        name: 'no-rls',
        spoil: 'CREATE TABLE public.newer (workspace_id text)',
        mend: 'DROP TABLE public.newer',
        reason: /row-level security is off for newer/,
      },
      {
        name: 'no-fence',
        spoil: 'ALTER FUNCTION drop_record_partition(text, date) RENAME TO newer_drop',
        mend: 'ALTER FUNCTION newer_drop(text, date) RENAME TO drop_record_partition',
        reason: /drop_record_partition\(text, date\)" does not exist/,
      },
      {
        name: 'read-only',
        spoil: `CREATE TABLE kept AS SELECT * FROM schema_additions ORDER BY name DESC LIMIT 1;
          DELETE FROM schema_additions WHERE name IN (SELECT name FROM kept);
          ALTER ROLE ${owner} SET default_transaction_read_only = on`,
        mend: `INSERT INTO schema_additions SELECT * FROM kept; ALTER ROLE ${owner} RESET default_transaction_read_only`,
        reason: /read-only transaction/,
      },
    ];
    for (const { name, spoil, mend, reason } of cases) {
      await running[Symbol.asyncDispose]();
      postgres.run(spoil);
      running = await start();
      await isRefused(reason);
      await isReady(reason);
      assert.equal(await stack.send(writeKey, [{ type: 'track', event: name, userId: 'u' }]), 200);
      await until(() => receiver.received.some(({ body }) => body.includes(name)), 60_000);
      postgres.run(mend);
      await until(async () => (await stack.ask('GET', '/sources')).status === 200, 60_000);
    }

    await running[Symbol.asyncDispose]();
    running = await start({ MILLRACE_KEYS: `1:${Buffer.alloc(32, 2).toString('base64')}` });
    await isRefused(/key 1 in MILLRACE_KEYS is not the key 1/);
    assert.equal(await stack.send(writeKey, [{ type: 'track', event: 'keys', userId: 'u' }]), 200);
  });

  test('is ready to collect while a migration takes long, and stops without waiting for its end', async () => {
    await using nats = await startNatsCluster({ nodes: 1 });
    await using postgres = await startPostgresServer();
    const read = readConfig({ ...stackSettings(nats.url, postgres), MILLRACE_METRICS_PORT: '0' });
    assert.ok(read.ok);
    const { log, of: told } = openLogLines();
    const start = () => startRoles(read.value, log);
    // Another session holds the lock of the migrations.
    const client = new Client({ connectionString: postgres.url });
    await client.connect();
    await using _ = { [Symbol.asyncDispose]: () => client.end() };
    await client.query('SELECT pg_advisory_lock(4820551301)');
    {
      await using running = await start();
      const ready = await fetch(`http://127.0.0.1:${running.metricsPort}/readyz`);
      assert.equal(ready.status, 200);
      const asked = await fetch(`http://127.0.0.1:${running.control?.port}/readyz`);
      assert.equal(asked.status, 503);
    }
    await using running = await start();
    await client.query('SELECT pg_advisory_unlock(4820551301)');
    await until(async () => (await fetch(`http://127.0.0.1:${running.control?.port}/readyz`)).status === 200, 60_000);
    assert.equal(told('database.migrated').length, 1);
  });

  test('as a process with control alone, says at /readyz that it waits for another version', async () => {
    await using nats = await startNatsCluster({ nodes: 1 });
    await using postgres = await startPostgresServer();
    const settings = { ...stackSettings(nats.url, postgres), MILLRACE_METRICS_PORT: '0', MILLRACE_ROLES: 'control' };
    const read = readConfig(settings);
    assert.ok(read.ok);
    const { log } = openLogLines();
    await (await startRoles(read.value, log))[Symbol.asyncDispose]();
    postgres.run(FUTURE('99.0.0'));
    await using running = await startRoles(read.value, log);
    const answer = await fetch(`http://127.0.0.1:${running.metricsPort}/readyz`);
    assert.equal(answer.status, 503);
    assert.match(await answer.text(), /start version 99.0.0 or newer/);
    const asked = await fetch(`http://127.0.0.1:${running.control?.port}/readyz`);
    assert.deepEqual([asked.status, ((await asked.json()) as { code: string }).code], [503, 'database_refused']);
  });
});
