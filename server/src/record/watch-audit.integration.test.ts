import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { join } from 'node:path';
import { after, before, suite, test } from 'node:test';
import { type PostgresServer, startNatsCluster } from '@millrace/engines';
import { startMigratedPostgres } from '../../testing/migrated-postgres.ts';
import { openLog } from '../log.ts';
import { openMetrics } from '../metrics/open-metrics.ts';
import { appendAudit } from '../store/audit-log.ts';
import { openStore, type Store } from '../store/open-store.ts';
import { insertWorkspace } from '../store/workspaces.ts';
import type { AuditAnchors } from '../stream/config/audit-anchors.ts';
import { openInspector } from '../../testing/inspector.ts';
import { openStream } from '../stream/open-stream.ts';
import { openAuditWatch } from './watch-audit.ts';
import { openLogLines } from '../../testing/log-lines.ts';
import { STREAM_SETTINGS } from '../../testing/stream-settings.ts';

const stack = new AsyncDisposableStack();
let postgres: PostgresServer;
let store: Store;
let anchors: AuditAnchors;
let natsUrl: string;
let inspector: Awaited<ReturnType<typeof openInspector>>;

before(async () => {
  const silent = openLog({ level: 'silent', pretty: false });
  const nats = stack.use(await startNatsCluster());
  natsUrl = nats.url;
  postgres = stack.use(await startMigratedPostgres());
  store = stack.use(await openStore(postgres.serviceUrl));
  const stream = stack.use(await openStream({ natsUrl: nats.url, settings: STREAM_SETTINGS, log: silent }));
  anchors = stack.use(await stream.recordSide()).auditAnchors;
  inspector = stack.use(await openInspector(nats.adminUrl, silent));
});
after(() => stack.disposeAsync());

/** A workspace with this many audit entries, and a process that watches them. */
async function openLogOf(workspaceId: string, entries: number) {
  await store.asSystem((tx) => insertWorkspace(tx, { id: workspaceId, name: workspaceId }));
  const grow = async (count: number) => {
    for (let i = 0; i < count; i += 1) {
      const entry = { at: new Date(), actor: { userId: 'usr_1' }, action: 'a', objectId: `o${i}`, details: {} };
      await store.inWorkspace(workspaceId, (tx) => appendAudit(tx, workspaceId, entry));
    }
  };
  await grow(entries);
  return { grow, ...watch(workspaceId) };
}

function watch(workspaceId: string, watched = store) {
  const { log, of } = openLogLines();
  const metrics = openMetrics();
  const logged = (msg: string) =>
    of(msg)
      .filter((line) => line['workspaceId'] === workspaceId)
      .map(({ sequence }) => sequence);
  return {
    ...openAuditWatch({ store: watched, anchors, metrics, log }),
    logged,
    brokenLogs: async () => Number(/^millrace_audit_logs_broken (\d+)$/m.exec(await metrics.text())?.[1]),
  };
}

/** As a superuser of PostgreSQL would, with the chain made anew so that every entry fits the one before it. */
async function rewrite(workspaceId: string, from: number): Promise<void> {
  const sql = `DELETE FROM audit_log WHERE workspace_id = '${workspaceId}' AND sequence >= ${from}`;
  postgres.run(`SET session_replication_role = replica; ${sql}`);
}

suite('the watch over audit logs', () => {
  test('anchors the end of a log that grew, in NATS and in our own log', async () => {
    const log = await openLogOf('ws_grows', 3);
    await log.anchor();
    assert.equal((await anchors.last('ws_grows'))?.sequence, 3);
    await log.anchor();
    await log.grow(2);
    await log.anchor();
    assert.deepEqual(log.logged('audit.anchored'), [3, 5]);
    assert.equal((await anchors.last('ws_grows'))?.hash, endHash('ws_grows'));
    await log.checkAll();
    assert.equal(await log.brokenLogs(), 0);
  });

  test('finds an entry that was changed', async () => {
    const log = await openLogOf('ws_changed', 5);
    await log.anchor();
    const sql = `UPDATE audit_log SET details = '{"x":1}' WHERE workspace_id = 'ws_changed' AND sequence = 2`;
    postgres.run(`SET session_replication_role = replica; ${sql}`);
    await log.checkAll();
    assert.deepEqual([log.logged('audit.broken'), await log.brokenLogs()], [[2], 1]);
    await log.checkAll();
    assert.deepEqual(log.logged('audit.broken'), [2], 'said once');
  });

  test('finds a log that was rewritten although its chain is whole, also if it grows at once', async () => {
    const log = await openLogOf('ws_rewritten', 5);
    await log.anchor();
    const before = await anchors.last('ws_rewritten');
    await rewrite('ws_rewritten', 3);
    await log.grow(9);
    await log.anchor();
    assert.deepEqual(log.logged('audit.broken'), [5]);
    assert.deepEqual(await anchors.last('ws_rewritten'), before, 'the anchor stays');
    const other = watch('ws_rewritten');
    await other.checkAll();
    assert.deepEqual(other.logged('audit.broken'), [5], 'another process finds it too');
  });

  test('finds a log that was cut off at its end, and one that is gone', async () => {
    for (const [id, from] of [
      ['ws_cut', 4],
      ['ws_gone', 1],
    ] as const) {
      const log = await openLogOf(id, 5);
      await log.anchor();
      await rewrite(id, from);
      await log.checkAll();
      assert.deepEqual(log.logged('audit.broken'), [from], id);
    }
  });

  test('takes a workspace that is removed while it looks for none that was broken, and keeps no row of it', async () => {
    const log = await openLogOf('ws_removed', 3);
    await log.anchor();
    const sql = `DELETE FROM audit_log WHERE workspace_id = 'ws_removed'; DELETE FROM workspaces WHERE id = 'ws_removed'`;
    const asSystem: Store['asSystem'] = async (work) => {
      const read = await store.asSystem(work);
      postgres.run(`SET session_replication_role = replica; ${sql}`);
      return read;
    };
    const other = watch('ws_removed', { ...store, asSystem });
    await other.checkAll();
    assert.deepEqual(other.logged('audit.broken'), []);
    const left = `SELECT 1 AS one FROM audit_checks WHERE workspace_id = 'ws_removed'`;
    assert.deepEqual(await store.asSystem((tx) => tx.query(left)), []);
  });

  test('goes on from the end that was accepted by hand, after a backup was restored', async () => {
    const log = await openLogOf('ws_restored', 5);
    await log.anchor();
    await rewrite('ws_restored', 3);
    await log.checkAll();
    assert.deepEqual(log.logged('audit.broken'), [3]);
    const program = join(import.meta.dirname, '../anchor-audit.ts');
    const env = {
      MILLRACE_NATS_URL: natsUrl,
      MILLRACE_DATABASE_URL: postgres.serviceUrl,
      MILLRACE_KEYS: `1:${Buffer.alloc(32, 7).toString('base64')}`,
      MILLRACE_EVENT_STREAMS: '1',
      MILLRACE_LANE_STREAMS: '1',
    };
    const done = spawnSync(process.execPath, [program, 'ws_restored'], { env, encoding: 'utf8' });
    assert.equal(done.status, 0, done.stderr);
    assert.match(done.stdout, /"before":\{"sequence":5,.*"anchor":\{"sequence":2,/);
    await log.grow(1);
    await log.checkAll();
    assert.equal((await anchors.last('ws_restored'))?.sequence, 3);
  });

  test('finds a broken log behind one that cannot be checked, and does not count as checked', async () => {
    const log = await openLogOf('ws_z', 3);
    await log.anchor();
    await rewrite('ws_z', 2);
    for (const id of ['ws.*', 'ws_a']) await store.asSystem((tx) => insertWorkspace(tx, { id, name: id }));
    await inspector.publish('audit.ws_a', 'not an anchor');
    await assert.rejects(log.checkAll(), /2 logs/);
    assert.deepEqual(log.logged('audit.broken'), [2]);
  });

  test('keeps anchors that not even an administrator of NATS can take back one by one', async () => {
    const { state } = await inspector.manager.streams.info('AUDIT');
    await assert.rejects(inspector.manager.streams.deleteMessage('AUDIT', state.first_seq), /not permitted/);
    await assert.rejects(inspector.manager.streams.purge('AUDIT'), /not permitted/);
  });
});

function endHash(workspaceId: string): string {
  const sql = `SELECT encode(hash, 'hex') FROM audit_log WHERE workspace_id = '${workspaceId}' ORDER BY sequence DESC LIMIT 1`;
  return postgres.run(sql).trim();
}
