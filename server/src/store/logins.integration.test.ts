/** Which fences stand for which login, on Debian's PostgreSQL and on a newer one. */
import assert from 'node:assert/strict';
import { after, before, suite, test } from 'node:test';
import { type PostgresServer, startPostgresServer } from '@millrace/engines';
import { appendAudit } from './audit-log.ts';
import { judgeLogin, readLogin } from './check-login.ts';
import { migrate } from './migrate.ts';
import { readMigration, readMigrations } from './read-migrations.ts';
import { MIGRATIONS_DIR } from '../installed-files.ts';
import { connected, migrateDatabase } from './migrate-database.ts';
import { openStore, type Store } from './open-store.ts';
import { makeDayPartitions } from './record-partitions.ts';
import { insertSource } from './sources.ts';
import { insertWorkspace } from './workspaces.ts';

const ENTRY = { at: new Date(), actor: { userId: 'usr_1' }, action: 'a', objectId: 'o', details: {} };

for (const isNewer of [false, true]) {
  suite(`on ${isNewer ? 'a newer PostgreSQL' : 'the installed PostgreSQL'}`, () => {
    let server: PostgresServer;
    before(async () => {
      server = await startPostgresServer({ isNewer });
    });
    after(() => server[Symbol.asyncDispose]());

    test('the version is the one that is meant', () => {
      const major = Number(server.run('SHOW server_version_num')) / 10_000;
      assert.equal(Math.floor(major) >= 17, isNewer, String(major));
    });

    test('a plain service login has all rights that the service needs, and can lift no fence', async () => {
      const { serviceUrl } = fresh(server, 'plain');
      await migrateDatabase(fresh(server, 'plain').url, serviceUrl);
      await using store = await openWithSources(serviceUrl);
      await assertFences(store);
      assert.deepEqual(judgeLogin(await readLogin(serviceUrl)), { missing: [], liftable: [] });
      for (const escape of [
        'RESET ROLE; UPDATE audit_log SET action = action',
        'RESET ROLE; ALTER TABLE audit_log DISABLE TRIGGER ALL',
        'RESET ROLE; ALTER TABLE sources DISABLE ROW LEVEL SECURITY',
        'RESET ROLE; SET LOCAL session_replication_role = replica',
        'RESET ROLE; SET LOCAL ROLE millrace_owner',
        'CREATE TABLE anything (id int)',
        'SELECT * FROM pg_authid',
      ]) {
        await assert.rejects(
          store.asSystem((tx) => tx.query(escape)),
          /permission denied|must be owner/,
          escape,
        );
      }
      const others = await store.inWorkspace('ws_2', async (tx) => {
        await tx.query('RESET ROLE');
        return tx.query('SELECT id FROM sources');
      });
      assert.deepEqual(others, []);
    });

    test('migrations change the rows of every workspace, although row-level security binds their login', async () => {
      const { url, serviceUrl } = fresh(server, 'rows');
      await migrateDatabase(url, serviceUrl);
      await using store = await openWithSources(serviceUrl);
      await using database = await connected(url);
      const rename = readMigration('0999_rename.sql', `-- least version: 0.1.0\nUPDATE sources SET name = 'renamed'`);
      const all = [...readMigrations(MIGRATIONS_DIR), rename];
      assert.deepEqual((await migrate(database.client, all)).applied, ['0999_rename.sql']);
      const names = await store.asSystem((tx) => tx.query<{ name: string }>('SELECT DISTINCT name FROM sources'));
      assert.deepEqual(names, [{ name: 'renamed' }]);
    });

    test('a service login alone finds migrated tables in order, and says which login it lacks for others', async () => {
      const { url, serviceUrl } = fresh(server, 'alone');
      await assert.rejects(migrateDatabase(serviceUrl), /MILLRACE_MIGRATION_DATABASE_URL/);
      await migrateDatabase(url, serviceUrl);
      assert.deepEqual((await migrateDatabase(serviceUrl)).applied, []);
    });

    test('one login that owns the tables and may create roles is bound by the fences, and is told that it could lift them', async () => {
      const url = freshFor(server, 'creator', 'CREATEROLE');
      await withoutRole(server, async () => {
        await migrateDatabase(url);
        await using store = await openWithSources(url);
        await assertFences(store);
        const liftable = ['the login creator owns the tables'];
        assert.deepEqual(judgeLogin(await readLogin(url)), { missing: [], liftable });
      });
    });

    test('one login that owns the tables and may create no roles is bound by the fences too', async () => {
      const url = freshFor(server, 'owner', '');
      await withoutRole(server, async () => {
        await migrateDatabase(url);
        await using store = await openWithSources(url);
        await assertFences(store);
        const liftable = ['the login owner owns the tables', 'the login owner cannot play the role millrace_app'];
        assert.deepEqual(judgeLogin(await readLogin(url)), { missing: [], liftable });
      });
      // Once an administrator has made the role, the next start gives it its rights.
      server.run('GRANT millrace_app TO owner');
      await migrateDatabase(url);
      await using later = await openStore(url);
      assert.equal((await readLogin(url)).playsAppRole, true);
      await assert.rejects(
        later.asSystem((tx) => tx.query('DELETE FROM audit_log')),
        /permission denied/,
      );
      assert.equal((await later.asSystem((tx) => tx.query('SELECT id FROM sources'))).length, 1);
    });

    test('a superuser is bound by the fences, and is told that it could lift them', async () => {
      const url = freshFor(server, 'super', 'SUPERUSER');
      await migrateDatabase(url);
      await using store = await openWithSources(url);
      await assertFences(store);
      assert.deepEqual(judgeLogin(await readLogin(url)).liftable, ['the login super is a superuser']);
    });

    test('a login that row-level security does not bind is refused, and so are tables without it', async () => {
      const { url, serviceUrl } = fresh(server, 'bypass');
      await migrateDatabase(url, serviceUrl);
      server.run('CREATE ROLE bypassing LOGIN BYPASSRLS');
      const bypass = serviceUrl.replace('//millrace@', '//bypassing@');
      assert.match(judgeLogin(await readLogin(bypass)).missing.join(), /row-level security does not bind/);
      server.run('ALTER TABLE sources DISABLE ROW LEVEL SECURITY', 'bypass');
      assert.deepEqual(judgeLogin(await readLogin(serviceUrl)).missing, ['row-level security is off for sources']);
      server.run('ALTER TABLE sources ENABLE ROW LEVEL SECURITY; GRANT UPDATE ON audit_log TO millrace_app', 'bypass');
      server.run('DROP TRIGGER audit_log_stays ON audit_log', 'bypass');
      assert.deepEqual(judgeLogin(await readLogin(serviceUrl)).missing, ['queries could change the audit log']);
      await migrateDatabase(url, serviceUrl);
      assert.deepEqual(judgeLogin(await readLogin(serviceUrl)), { missing: [], liftable: [] });
    });
  });
}

/** A database of its own, owned by the login that migrates. */
function fresh(server: PostgresServer, database: string): { url: string; serviceUrl: string } {
  const isThere = server.run(`SELECT count(*) FROM pg_database WHERE datname = '${database}'`).trim() === '1';
  if (!isThere) server.run(`CREATE DATABASE ${database} OWNER millrace_owner`);
  const at = (url: string) => url.replace(/\/postgres$/, `/${database}`);
  return { url: at(server.url), serviceUrl: at(server.serviceUrl) };
}

/** A login of its own, in a database of its own. */
function freshFor(server: PostgresServer, login: string, may: string): string {
  server.run(`CREATE ROLE ${login} LOGIN ${may}`);
  server.run(`CREATE DATABASE of_${login} OWNER ${login}`);
  return server.adminUrl.replace('//postgres@', `//${login}@`).replace(/\/postgres$/, `/of_${login}`);
}

/** As on a server where no administrator has made the role: roles are shared by all databases of a server. */
async function withoutRole(server: PostgresServer, work: () => Promise<void>): Promise<void> {
  server.run('ALTER ROLE millrace_app RENAME TO away');
  try {
    await work();
  } finally {
    const isMade = server.run(`SELECT count(*) FROM pg_roles WHERE rolname = 'millrace_app'`).trim() === '1';
    if (isMade) server.run('ALTER ROLE millrace_app RENAME TO made_by_test');
    server.run('ALTER ROLE away RENAME TO millrace_app');
  }
}

async function openWithSources(url: string): Promise<Store> {
  const store = await openStore(url);
  await store.asSystem(async (tx) => {
    for (const id of ['ws_1', 'ws_2']) await insertWorkspace(tx, { id, name: id });
  });
  await store.inWorkspace('ws_1', (tx) => insertSource(tx, { workspaceId: 'ws_1', id: 'src_1', name: 'One' }));
  await store.inWorkspace('ws_1', (tx) => appendAudit(tx, 'ws_1', ENTRY));
  await store.asSystem((tx) => makeDayPartitions(tx, '2026-11-16', 7));
  return store;
}

async function assertFences(store: Store): Promise<void> {
  assert.deepEqual(await store.inWorkspace('ws_2', (tx) => tx.query('SELECT id FROM sources')), []);
  await assert.rejects(
    store.inWorkspace('ws_2', (tx) => insertSource(tx, { workspaceId: 'ws_1', id: 'src_2', name: 'Two' })),
    /row-level security/,
  );
  for (const sql of ['UPDATE audit_log SET action = action', 'DELETE FROM audit_log', 'TRUNCATE audit_log']) {
    await assert.rejects(
      store.asSystem((tx) => tx.query(sql)),
      /permission denied|never changed or removed/,
      sql,
    );
  }
}
