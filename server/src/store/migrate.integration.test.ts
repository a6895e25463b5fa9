import assert from 'node:assert/strict';
import { suite, test } from 'node:test';
import { spawn, spawnSync } from 'node:child_process';
import { join } from 'node:path';
import { checkOutVersion, type PostgresServer, startPostgresServer } from '@millrace/engines';
import { Client } from 'pg';
import { until } from '../../testing/until.ts';
import { migrate } from './migrate.ts';
import { migrateDatabase, readMigrationState } from './migrate-database.ts';
import { readMigration } from './read-migrations.ts';

const marked = (name: string, sql: string, mark = '0.1.0') => readMigration(name, `-- least version: ${mark}\n${sql}`);
const FIRST = marked('0001_a.sql', 'CREATE TABLE a (id int)');
const SECOND = marked('0002_b.sql', '-- no transaction\nCREATE INDEX CONCURRENTLY a_id ON a (id)');

suite('migrations', () => {
  test('are applied once, in order, also by processes that start together', async () => {
    await using server = await startPostgresServer();
    const results = await Promise.all(Array.from({ length: 5 }, () => migrateDatabase(server.url)));
    assert.equal(results.filter(({ applied }) => applied.length > 0).length, 1);
    const again = await migrateDatabase(server.url);
    assert.deepEqual(again.applied, []);
  });

  test('may hold a statement that must stand outside a transaction', async () => {
    await using server = await startPostgresServer();
    await using database = await connected(server.url);
    assert.deepEqual((await migrate(database.client, [FIRST, SECOND])).applied, ['0001_a.sql', '0002_b.sql']);
  });

  test('refuse a database that is newer, a file that was changed, and a number that comes too late', async () => {
    await using server = await startPostgresServer();
    await using database = await connected(server.url);
    await migrate(database.client, [FIRST, SECOND]);
    // As a version without marks has written it.
    await database.client.query(`UPDATE schema_migrations SET least_version = NULL`);
    await assert.rejects(migrate(database.client, [FIRST]), /start a newer version/);
    const changed = marked('0001_a.sql', 'CREATE TABLE a (id bigint)');
    await assert.rejects(migrate(database.client, [changed, SECOND]), /was changed after it was applied/);
    const late = marked('0001_b.sql', 'SELECT 1');
    await assert.rejects(migrate(database.client, [FIRST, late, SECOND]), /give it a higher number/);
  });

  test('that only add are no reason for the version before them to refuse the database', async () => {
    await using server = await startPostgresServer();
    await migrateDatabase(server.url);
    using older = await checkOutVersion('a2fef30');
    const env = { MILLRACE_DATABASE_URL: server.url };
    const program = join(older.dir, 'server/src/migrate.ts');
    const done = spawnSync(process.execPath, [program], { env, encoding: 'utf8' });
    assert.match(done.stdout, /nothing to do: 5 migrations are applied/, done.stderr);
  });

  test('that are unknown stop exactly the versions that are older than their mark', async () => {
    await using server = await startPostgresServer();
    await using database = await connected(server.url);
    const added = marked('0006_d.sql', 'CREATE TABLE d (id int)');
    const contracting = marked('0007_e.sql', 'DROP TABLE d', '0.3.0');
    await migrate(database.client, [FIRST, added], { version: '0.2.0' });
    const onward = await migrate(database.client, [FIRST], { version: '0.1.0' });
    assert.deepEqual([onward.applied, onward.unknown], [[], ['0006_d.sql']]);
    await migrate(database.client, [FIRST, added, contracting], { version: '0.4.0' });
    const asOf = (version: string) => migrate(database.client, [FIRST, added], { version });
    await assert.rejects(
      asOf('0.2.9'),
      /0007_e.sql, after which this version \(0.2.9\) must not .* start version 0.3.0 or newer/,
    );
    await assert.rejects(asOf('0.3.0-rc.1'), /start version 0.3.0 or newer/);
    assert.deepEqual((await asOf('0.3.0')).unknown, ['0007_e.sql']);
    assert.deepEqual((await asOf('0.10.0')).unknown, ['0007_e.sql']);
  });

  test('keep their mark in the database, where any version can read it', async () => {
    await using server = await startPostgresServer();
    await migrateDatabase(server.url);
    server.run(`INSERT INTO schema_migrations VALUES ('9999_future.sql', 'x', now(), '99.0.0')`);
    const status = await readMigrationState(server.url);
    assert.deepEqual(status.unknown, [{ name: '9999_future.sql', leastVersion: '99.0.0' }]);
    assert.deepEqual([status.pending, status.leastVersion], [[], '99.0.0']);
    assert.match(status.refused ?? '', /start version 99.0.0 or newer/);
  });

  test('of a version without marks are taken over as they are', async () => {
    await using server = await startPostgresServer();
    using older = await checkOutVersion('a2fef30');
    const env = { MILLRACE_DATABASE_URL: server.url };
    spawnSync(process.execPath, [join(older.dir, 'server/src/migrate.ts')], { env });
    assert.equal((await readMigrationState(server.url)).applied.length, 5);
    const { applied, alreadyThere } = await migrateDatabase(server.url);
    assert.deepEqual([applied[0], alreadyThere], ['0006_config_limits.sql', 5]);
  });

  test('survive kill -9 in the middle of a transaction: the next start applies them whole', async () => {
    await using server = await startPostgresServer();
    using migrating = migrateAndDie(server.url, `CREATE TABLE half (id int); SELECT pg_sleep(600)`);
    await until(() => sleepers(server) === 1);
    migrating.kill();
    // PostgreSQL notices a client that is gone when its statement ends; an operator need not wait for that.
    server.run(
      `SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE query LIKE '%pg_sleep(600)%' AND pid <> pg_backend_pid()`,
    );
    await until(() => sleepers(server) === 0);
    await using database = await connected(server.url);
    const whole = marked('0002_half.sql', 'CREATE TABLE half (id int)');
    assert.deepEqual((await migrate(database.client, [FIRST, whole])).applied, ['0002_half.sql']);
  });

  test('survive kill -9 while an index is built: an invalid index is built again', async () => {
    await using server = await startPostgresServer();
    await using database = await connected(server.url);
    await migrate(database.client, [FIRST]);
    // An open writer keeps CREATE INDEX CONCURRENTLY waiting with its index there and invalid.
    await using writer = await connected(server.url);
    await writer.client.query('BEGIN; INSERT INTO a VALUES (1)');
    using migrating = migrateAndDie(server.url, '-- no transaction\nCREATE INDEX CONCURRENTLY a_id ON a (id)');
    const isThere = () =>
      server.run(`SELECT count(*) FROM pg_index WHERE indexrelid = to_regclass('a_id')`).trim() === '1';
    await until(isThere);
    migrating.kill();
    server.run(
      `SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE query LIKE '%CREATE INDEX CONC%' AND pid <> pg_backend_pid()`,
    );
    await writer.client.query('COMMIT');
    assert.equal(server.run(`SELECT indisvalid FROM pg_index WHERE indexrelid = to_regclass('a_id')`).trim(), 'f');
    const asBefore = marked('0002_half.sql', '-- no transaction\nCREATE INDEX CONCURRENTLY a_id ON a (id)');
    assert.deepEqual((await migrate(database.client, [FIRST, asBefore])).applied, ['0002_half.sql']);
    assert.equal(server.run(`SELECT indisvalid FROM pg_index WHERE indexrelid = to_regclass('a_id')`).trim(), 't');
  });

  test('leave nothing behind when one fails', async () => {
    await using server = await startPostgresServer();
    await using database = await connected(server.url);
    const broken = marked('0002_c.sql', 'CREATE TABLE c (id int); SELECT nonsense');
    await assert.rejects(migrate(database.client, [FIRST, broken]), /0002_c.sql failed/);
    const { rows } = await database.client.query(`SELECT to_regclass('a') AS a, to_regclass('c') AS c`);
    assert.deepEqual(rows, [{ a: 'a', c: null }]);
  });
});

/** Another process that applies one more migration, 0002_half.sql, and is killed in the middle of it. */
function migrateAndDie(url: string, sql: string): Disposable & { kill(): void } {
  const program = `
    const { Client } = await import('pg');
    const { migrate } = await import('${import.meta.dirname}/migrate.ts');
    const { readMigration } = await import('${import.meta.dirname}/read-migrations.ts');
    const client = new Client({ connectionString: '${url}' });
    await client.connect();
    const files = ${JSON.stringify([
      ['0001_a.sql', '-- least version: 0.1.0\nCREATE TABLE a (id int)'],
      ['0002_half.sql', `-- least version: 0.1.0\n${sql}`],
    ])};
    await migrate(client, files.map(([name, text]) => readMigration(name, text)));`;
  const child = spawn(process.execPath, ['--input-type=module', '-e', program], {
    stdio: 'ignore',
    cwd: import.meta.dirname,
  });
  const kill = () => void child.kill('SIGKILL');
  return { kill, [Symbol.dispose]: kill };
}

function sleepers(server: PostgresServer): number {
  return Number(
    server.run(
      `SELECT count(*) FROM pg_stat_activity WHERE query LIKE '%pg_sleep(600)%' AND state = 'active' AND pid <> pg_backend_pid()`,
    ),
  );
}

async function connected(url: string): Promise<AsyncDisposable & { client: Client }> {
  const client = new Client({ connectionString: url });
  await client.connect();
  return { client, [Symbol.asyncDispose]: () => client.end() };
}
