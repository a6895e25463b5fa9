import assert from 'node:assert/strict';
import { suite, test } from 'node:test';
import { type PostgresServer } from '@millrace/engines';
import { startMigratedPostgres } from '../../testing/migrated-postgres.ts';
import { appendAudit, checkAudit, listAudit } from './audit-log.ts';
import { openStore, type Store, StoreUnavailable } from './open-store.ts';
import { findSource, insertSource, listSources } from './sources.ts';
import { insertWorkspace } from './workspaces.ts';

suite('the store', () => {
  test('shows a transaction the rows of its workspace and of no other, even to a query that forgets to ask', async () => {
    await using server = await startMigratedPostgres();
    await using store = await openWithTwoWorkspaces(server);
    await store.inWorkspace('ws_1', (tx) => insertSource(tx, { workspaceId: 'ws_1', id: 'src_1', name: 'One' }));
    const seen = (workspaceId: string) => store.inWorkspace(workspaceId, (tx) => tx.query('SELECT id FROM sources'));
    assert.equal((await seen('ws_1')).length, 1);
    assert.deepEqual(await seen('ws_2'), []);
    assert.equal(await store.inWorkspace('ws_2', (tx) => findSource(tx, 'ws_1', 'src_1')), undefined);
    await assert.rejects(
      store.inWorkspace('ws_2', (tx) => insertSource(tx, { workspaceId: 'ws_1', id: 'src_2', name: 'Two' })),
      /row-level security/,
    );
    assert.equal((await store.asSystem((tx) => tx.query('SELECT id FROM sources'))).length, 1);
  });

  test('does not remember a workspace from one transaction to the next', async () => {
    await using server = await startMigratedPostgres();
    await using store = await openWithTwoWorkspaces(server);
    await store.inWorkspace("ws_1'; SELECT 'x", (tx) => listSources(tx, 'ws_1', { limit: 10, after: undefined }));
    await store.asSystem((tx) => insertSource(tx, { workspaceId: 'ws_1', id: 'src_1', name: 'One' }));
    const rows = await Promise.all(
      Array.from({ length: 20 }, () => store.inWorkspace('ws_2', (tx) => tx.query('SELECT id FROM sources'))),
    );
    assert.ok(rows.every((found) => found.length === 0));
  });

  test('undoes everything when the work fails', async () => {
    await using server = await startMigratedPostgres();
    await using store = await openWithTwoWorkspaces(server);
    const failing = store.inWorkspace('ws_1', async (tx) => {
      await insertSource(tx, { workspaceId: 'ws_1', id: 'src_1', name: 'One' });
      throw new Error('no');
    });
    await assert.rejects(failing, /no/);
    assert.equal(await store.asSystem((tx) => findSource(tx, 'ws_1', 'src_1')), undefined);
  });

  test('says so when the database is away, and works again when it is back', async () => {
    await using server = await startMigratedPostgres();
    await using store = await openWithTwoWorkspaces(server);
    server.stop('immediate');
    const ask = () => store.asSystem((tx) => tx.query('SELECT 1 AS one'));
    await assert.rejects(ask(), StoreUnavailable);
    await assert.rejects(ask(), StoreUnavailable);
    server.start();
    assert.deepEqual(await ask(), [{ one: 1 }]);
  });
});

suite('the audit log', () => {
  test('is a chain: an entry changed or taken out shows', async () => {
    await using server = await startMigratedPostgres();
    await using store = await openWithTwoWorkspaces(server);
    await Promise.all(
      Array.from({ length: 10 }, (_, i) => store.inWorkspace('ws_1', (tx) => appendAudit(tx, 'ws_1', entry(i)))),
    );
    const check = async () => {
      const checked = await store.inWorkspace('ws_1', (tx) => checkAudit(tx, 'ws_1', {}));
      return checked.kind === 'broken' ? checked.sequence : undefined;
    };
    assert.equal(await check(), undefined);
    const page = await store.inWorkspace('ws_1', (tx) => listAudit(tx, 'ws_1', { limit: 3, after: undefined }));
    assert.deepEqual(
      page.map((row) => row.sequence),
      ['10', '9', '8'],
    );
    tamper(server, `UPDATE audit_log SET details = '{"name":"forged"}' WHERE sequence = 4`);
    assert.equal(await check(), 4);
  });

  test('cannot be changed by the role the service plays', async () => {
    await using server = await startMigratedPostgres();
    await using store = await openWithTwoWorkspaces(server);
    await store.inWorkspace('ws_1', (tx) => appendAudit(tx, 'ws_1', entry(1)));
    for (const sql of ['DELETE FROM audit_log', 'UPDATE audit_log SET action = action']) {
      await assert.rejects(
        store.asSystem((tx) => tx.query(sql)),
        /permission denied/,
      );
    }
  });
});

function entry(index: number) {
  return {
    at: new Date(),
    actor: { userId: 'usr_1' },
    action: 'source.created',
    objectId: `src_${index}`,
    details: { b: 1, a: { z: 1, y: 2 } },
  };
}

async function openWithTwoWorkspaces(server: PostgresServer): Promise<Store> {
  const store = await openStore(server.serviceUrl);
  await store.asSystem(async (tx) => {
    for (const id of ['ws_1', 'ws_2']) await insertWorkspace(tx, { id, name: id });
  });
  return store;
}

function tamper(server: PostgresServer, sql: string): void {
  // Not even the superuser changes it by mistake.
  assert.throws(() => server.run(sql), /never changed or removed/);
  server.run(`SET session_replication_role = replica; ${sql}`);
}
