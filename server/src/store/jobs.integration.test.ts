import assert from 'node:assert/strict';
import { after, before, suite, test } from 'node:test';
import type { PostgresServer } from '@millrace/engines';
import { startMigratedPostgres } from '../../testing/migrated-postgres.ts';
import { claimJob, findJob, insertJob, type JobRow, releaseJob, saveStep } from './jobs.ts';
import { openStore, type Store } from './open-store.ts';
import { insertWorkspace } from './workspaces.ts';

const LEASE_MS = 60_000;
const JOB = { workspaceId: 'ws_1', kind: 'replay', id: 'job_1' } as const;

suite('the lease of a job', () => {
  let server: PostgresServer;
  let store: Store;
  before(async () => {
    server = await startMigratedPostgres();
    store = await openStore(server.serviceUrl);
    await store.asSystem(async (tx) => {
      await insertWorkspace(tx, { id: JOB.workspaceId, name: 'One' });
      const { workspaceId: workspace_id, kind, id } = JOB;
      await insertJob(tx, { workspace_id, id, kind, asked: {}, started_by: null });
    });
  });
  after(async () => {
    await store[Symbol.asyncDispose]();
    await server[Symbol.asyncDispose]();
  });

  const claim = (lease: string) =>
    store.asSystem((tx) => claimJob(tx, { kinds: ['replay'], notOf: [] }, { lease, leaseMs: LEASE_MS }));
  const save = (job: JobRow, lease: string, at: number) =>
    store.asSystem((tx) => saveStep(tx, job, { step: { position: { at }, done: 1 }, lease, leaseMs: LEASE_MS }));
  const stored = () => store.asSystem((tx) => findJob(tx, JOB));

  test('that is over lets its former holder write nothing: neither a step nor the end of the lease', async () => {
    const first = (await claim('first')) ?? assert.fail('nobody else has it');
    assert.equal(await claim('second'), undefined, 'it is leased');
    assert.deepEqual((await save(first, 'first', 1))?.position, { at: 1 });

    server.run(`UPDATE jobs SET leased_until = now() - interval '1 second'`);
    const second = (await claim('second')) ?? assert.fail('the lease is over');
    assert.deepEqual(second.position, { at: 1 }, 'the next holder goes on where the first one was');
    assert.deepEqual((await save(second, 'second', 2))?.position, { at: 2 });

    assert.equal(await save(first, 'first', 9), undefined);
    await store.asSystem((tx) => releaseJob(tx, JOB.id, 'first'));
    assert.equal(await claim('third'), undefined, 'the second one has it still');
    const { position, done } = (await stored()) ?? assert.fail();
    assert.deepEqual([position, done], [{ at: 2 }, 2]);
  });
});
