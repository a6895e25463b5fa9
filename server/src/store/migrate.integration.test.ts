import assert from 'node:assert/strict';
import { suite, test } from 'node:test';
import { spawnSync } from 'node:child_process';
import { join } from 'node:path';
import { checkOutVersion, startPostgresServer } from '@millrace/engines';
import { Client } from 'pg';
import { migrate, readMigration } from './migrate.ts';
import { migrateDatabase } from './migrate-database.ts';

const FIRST = readMigration('0001_a.sql', 'CREATE TABLE a (id int)');
const SECOND = readMigration('0002_b.sql', '-- no transaction\nCREATE INDEX CONCURRENTLY a_id ON a (id)');

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
    await assert.rejects(migrate(database.client, [FIRST]), /start a newer version/);
    const changed = readMigration('0001_a.sql', 'CREATE TABLE a (id bigint)');
    await assert.rejects(migrate(database.client, [changed, SECOND]), /was changed after it was applied/);
    const late = readMigration('0001_b.sql', 'SELECT 1');
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

  test('that add can be unknown, those that break cannot', async () => {
    await using server = await startPostgresServer();
    await using database = await connected(server.url);
    const added = readMigration('0006_d.sql', 'CREATE TABLE d (id int)');
    const breaking = readMigration('0007_e.sql', '-- breaking\nDROP TABLE d');
    await migrate(database.client, [FIRST, added]);
    assert.deepEqual((await migrate(database.client, [FIRST])).applied, []);
    await migrate(database.client, [FIRST, added, breaking]);
    await assert.rejects(migrate(database.client, [FIRST, added]), /0007_e.sql, which this version does not know/);
  });

  test('leave nothing behind when one fails', async () => {
    await using server = await startPostgresServer();
    await using database = await connected(server.url);
    const broken = readMigration('0002_c.sql', 'CREATE TABLE c (id int); SELECT nonsense');
    await assert.rejects(migrate(database.client, [FIRST, broken]), /0002_c.sql failed/);
    const { rows } = await database.client.query(`SELECT to_regclass('a') AS a, to_regclass('c') AS c`);
    assert.deepEqual(rows, [{ a: 'a', c: null }]);
  });
});

async function connected(url: string): Promise<AsyncDisposable & { client: Client }> {
  const client = new Client({ connectionString: url });
  await client.connect();
  return { client, [Symbol.asyncDispose]: () => client.end() };
}
