import assert from 'node:assert/strict';
import { suite, test } from 'node:test';
import { startPostgresServer } from '@millrace/engines';
import { runMillrace } from '../../testing/run-millrace.ts';

suite('millrace migrate', () => {
  test('tells what is pending, applies it once, and says that there is nothing to do', async () => {
    await using server = await startPostgresServer();
    const env = { MILLRACE_DATABASE_URL: server.serviceUrl, MILLRACE_MIGRATION_DATABASE_URL: server.url };
    const before = await runMillrace(['migrate', '--status', '--json'], { env });
    assert.equal(before.code, 6, before.err);
    const { pending } = JSON.parse(before.out) as { pending: string[] };
    assert.ok(pending.length >= 10);
    const migrated = await runMillrace(['migrate'], { env });
    assert.equal(migrated.code, 0, migrated.err);
    assert.match(migrated.out, /^applied 0001_control.sql, /);
    assert.match(migrated.err, /applying 0001_control.sql …/);
    assert.match((await runMillrace(['migrate'], { env })).out, /nothing to do: \d+ migrations are applied/);
    assert.equal((await runMillrace(['migrate', '--status'], { env })).code, 0);

    server.run(`INSERT INTO schema_migrations VALUES ('9999_future.sql', 'x', now(), '99.0.0')`);
    const refused = await runMillrace(['migrate'], { env });
    assert.deepEqual([refused.code, refused.out], [1, '']);
    assert.match(refused.err, /9999_future.sql.* start version 99.0.0 or newer.*\n.*millrace upgrade-check/);
    const status = await runMillrace(['migrate', '--status'], { env });
    assert.equal(status.code, 6);
    assert.match(status.out, /unknown {3}9999_future.sql \(of a newer version, needs 99.0.0\)/);
  });

  test('ends with exit code 5 and the setting to look at when there is no database, and 78 when a setting is wrong', async () => {
    const away = await runMillrace(['migrate'], { env: { MILLRACE_DATABASE_URL: 'postgres://127.0.0.1:9/none' } });
    assert.equal(away.code, 5);
    assert.match(away.err, /PostgreSQL cannot be used: .*ECONNREFUSED.*\n.*MILLRACE_DATABASE_URL/);
    const wrong = await runMillrace(['migrate'], { env: { MILLRACE_DATABASE_URL: 'mysql://x' } });
    assert.equal(wrong.code, 78);
    assert.match(wrong.err, /MILLRACE_DATABASE_URL must begin with postgres/);
  });
});
