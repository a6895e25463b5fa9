import { readNetworks } from '../../../http/address-policy.ts';
import assert from 'node:assert/strict';
import { suite, test } from 'node:test';
import { type PostgresServer } from '@millrace/engines';
import { startMigratedPostgres } from '../../../../testing/migrated-postgres.ts';
import { DEMO_TOKEN } from '../../../secrets/demo-secrets.ts';
import { openLogLines } from '../../../../testing/log-lines.ts';
import { NO_ENGINE } from '../../../../testing/control.ts';
import { NO_REMOVALS } from '../../../projection/repair-config.ts';
import { startControl } from '../../start-control.ts';
import { until } from '../../../../testing/until.ts';

const TOKEN = 'a-bootstrap-token-of-more-than-32-characters';

const NO_GUARD = { waiting: () => NO_REMOVALS, confirm: async () => 0 };

suite('the first start', () => {
  test('makes the bootstrap token an owner token, once, however many processes start at the same moment', async () => {
    await using postgres = await startMigratedPostgres();
    await using stack = new AsyncDisposableStack();
    const starts = await Promise.all(Array.from({ length: 4 }, () => start(postgres, TOKEN)));
    for (const each of starts) stack.use(each.control);
    const counts = await starts[0]?.control.store.asSystem((tx) =>
      tx.query(
        'SELECT (SELECT count(*)::int FROM workspaces) AS workspaces, (SELECT count(*)::int FROM tokens) AS tokens',
      ),
    );
    assert.deepEqual(counts, [{ workspaces: 1, tokens: 1 }]);
    for (const { url } of starts) {
      const me = await fetch(`${url}/api/v1/me`, { headers: { Authorization: `Bearer ${TOKEN}` } });
      assert.equal(me.status, 200);
      const { workspaces } = (await me.json()) as { workspaces: { name: string; role: string }[] };
      assert.deepEqual([workspaces[0]?.name, workspaces[0]?.role], ['Default', 'owner']);
    }
  });

  test('changes nothing when it is not the first, and a bootstrap token that was revoked stays revoked', async () => {
    await using postgres = await startMigratedPostgres();
    const headers = { Authorization: `Bearer ${TOKEN}` };
    {
      await using first = (await start(postgres, TOKEN)).control;
      await first.store.asSystem((tx) => tx.query('DELETE FROM tokens'));
    }
    const again = await start(postgres, TOKEN);
    await using _ = again.control;
    assert.equal((await fetch(`${again.url}/api/v1/me`, { headers })).status, 401);
    assert.deepEqual(again.logged('setup.waiting'), []);
  });

  test('of a server on a database that npm run dev has set up is refused until the demo token is revoked', async () => {
    await using postgres = await startMigratedPostgres();
    {
      await using _ = (await start(postgres, DEMO_TOKEN)).control;
    }
    for (const token of [TOKEN, undefined]) {
      await assert.rejects(start(postgres, token), /set up by npm run dev, whose token everybody knows/);
    }
    {
      await using demo = (await start(postgres, DEMO_TOKEN)).control;
      await demo.store.asSystem((tx) => tx.query('DELETE FROM tokens'));
    }
    await using _ = (await start(postgres, TOKEN)).control;
  });

  test('without a token logs a one-time link that makes the first owner and signs them in', async () => {
    await using postgres = await startMigratedPostgres();
    const { control, url, logged } = await start(postgres, undefined);
    await using _ = control;
    const link = String(logged('setup.waiting')[0]?.['link']);
    const setupToken = /\/setup#token=(\S+)$/.exec(link)?.[1] ?? '';
    const body = JSON.stringify({
      workspace: 'Mill',
      email: 'ann@example.com',
      name: 'Ann',
      password: 'correct horse battery',
    });
    const setUp = (token: string) =>
      fetch(`${url}/api/v1/bootstrap`, {
        method: 'POST',
        headers: { Authorization: `Bearer ${token}`, 'Content-Type': 'application/json' },
        body,
      });
    assert.equal((await setUp('wrong')).status, 401);
    const both = await Promise.all([setUp(setupToken), setUp(setupToken)]);
    const statuses = new Set(both.map((answer) => answer.status));
    assert.deepEqual(statuses, new Set([201, 409]));
    const made = both.find((answer) => answer.status === 201);
    const Cookie = made?.headers.get('set-cookie')?.split(';')[0] ?? '';
    const me = (await (await fetch(`${url}/api/v1/me`, { headers: { Cookie } })).json()) as { user: { email: string } };
    assert.equal(me.user.email, 'ann@example.com');
    assert.equal((await setUp(setupToken)).status, 409);
  });
});

suite('a start with other keys than before', () => {
  test('is refused before anything is sealed with them', async () => {
    await using postgres = await startMigratedPostgres();
    await (await start(postgres, TOKEN)).control[Symbol.asyncDispose]();
    await assert.rejects(start(postgres, TOKEN, Buffer.alloc(32, 2)), /key 1 in MILLRACE_KEYS is not the key 1/);
  });
});

suite('a start without a database', () => {
  test('listens at once, says what is missing, and sets itself up when the database comes', async () => {
    await using postgres = await startMigratedPostgres();
    postgres.stop('fast');
    const { control, url, logged } = await start(postgres, TOKEN);
    await using _ = control;
    const ask = async (path: string) =>
      (await fetch(`${url}${path}`, { headers: { Authorization: `Bearer ${TOKEN}` } })).status;
    assert.equal(await ask('/healthz'), 200);
    assert.equal(await ask('/readyz'), 503);
    assert.equal(await ask('/api/v1/workspace'), 503);
    assert.ok(logged('database.waiting').length > 0);
    postgres.start();
    await until(async () => (await ask('/readyz')) === 200);
    assert.equal(await ask('/api/v1/workspace'), 200);
  });

  test('ends when it is told to, without waiting for the database', async () => {
    await using postgres = await startMigratedPostgres();
    postgres.stop('fast');
    const { control } = await start(postgres, TOKEN);
    const startedAt = performance.now();
    await control[Symbol.asyncDispose]();
    assert.ok(performance.now() - startedAt < 8_000);
  });
});

/** These tests have no NATS. */
const NO_PROJECTOR = {
  changed: () => undefined,
  settled: async () => true,
  removals: NO_GUARD,
  [Symbol.asyncDispose]: async () => undefined,
};

async function start(postgres: PostgresServer, bootstrapToken: string | undefined, key = Buffer.alloc(32, 1)) {
  const { log, of: logged } = openLogLines();
  const settings = {
    host: '127.0.0.1',
    port: 0,
    maxConnections: 100,
    trustedProxies: [],
    databaseUrl: postgres.serviceUrl,
    migrationDatabaseUrl: postgres.url,
    bootstrapToken,
    keys: new Map([[1, key]]),
    networks: readNetworks(''),
    record: { recordRetentionMs: 86_400_000, counterRetentionMs: 86_400_000, sample: 1, rows: 1 },
  };
  const control = await startControl({
    settings,
    side: NO_ENGINE,
    project: () => NO_PROJECTOR,
    laneOf: () => undefined,
    log,
  });
  return { control, logged, url: `http://127.0.0.1:${control.port}` };
}
