import assert from 'node:assert/strict';
import { after, before, suite, test } from 'node:test';
import { startMigratedPostgres } from '../../../testing/migrated-postgres.ts';
import { openLog } from '../../log.ts';
import { appendAudit, type AuditRow, checkAudit, listAudit } from '../../store/audit-log.ts';
import { openStore, type Store, StoreUnavailable } from '../../store/open-store.ts';
import { addMember, addWorkspace } from '../../../testing/control.ts';
import { until } from '../../../testing/until.ts';
import { openKeyRing } from '../../secrets/seal.ts';
import { setAuditStream } from '../../store/audit-streams.ts';
import type { Asks } from '../../stream/signals/asks.ts';
import { openReadLog, type Read } from './read-log.ts';
import { auditSecretPlace, startStreamingAudit } from './stream-audit.ts';

const opened = new AsyncDisposableStack();
const log = openLog({ level: 'silent', pretty: false });
let store: Store;
let clock = Date.parse('2030-01-01T00:00:00Z');
const now = () => new Date(clock);

before(async () => {
  const postgres = opened.use(await startMigratedPostgres());
  store = opened.use(await openStore(postgres.serviceUrl));
});
after(() => opened.disposeAsync());

async function newLog(over: Store = store) {
  const workspaceId = await addWorkspace(store);
  const reads = openReadLog({ store: over, log, now });
  const read = (change: Partial<Read> = {}): Read => ({
    actor: { kind: 'user', id: 'usr_1', address: '192.0.2.1' },
    workspaceId,
    action: 'payload.viewed',
    objectId: 'dl_1',
    endpoint: 'GET /api/v1/dead-letters/:id',
    ...change,
  });
  return { workspaceId, reads, read };
}

/** Oldest first. */
async function entriesOf(workspaceId: string): Promise<AuditRow[]> {
  const page = { limit: 1_000, after: undefined };
  return (await store.asSystem((tx) => listAudit(tx, workspaceId, page))).toReversed();
}

suite('the log of reads', () => {
  test('writes the first read at once, and counts the ones after it in one entry', async () => {
    const { workspaceId, reads, read } = await newLog();
    await using _ = reads;
    reads.note(read());
    await reads.flush();
    for (let i = 0; i < 500; i += 1) reads.note(read());
    reads.note(read({ actor: { kind: 'user', id: 'usr_1', address: '192.0.2.2' } }));
    await reads.flush();
    assert.equal((await entriesOf(workspaceId)).length, 1, 'the repeats wait');
    clock += 900_000;
    await reads.flush();
    const [first, second] = await entriesOf(workspaceId);
    assert.deepEqual(
      [first?.action, first?.object_id, first?.details],
      ['payload.viewed', 'dl_1', { endpoints: ['GET /api/v1/dead-letters/:id'], times: 1 }],
    );
    assert.deepEqual(second?.details, {
      endpoints: ['GET /api/v1/dead-letters/:id'],
      times: 501,
      addresses: ['192.0.2.1', '192.0.2.2'],
    });
    const checked = await store.inWorkspace(workspaceId, (tx) => checkAudit(tx, workspaceId, {}));
    assert.equal(checked.kind, 'holds');
  });

  test('writes refused permissions once a minute', async () => {
    const { workspaceId, reads, read } = await newLog();
    await using _ = reads;
    const denied = read({ action: 'permission.denied', objectId: undefined });
    for (let minute = 0; minute < 3; minute += 1) {
      for (let i = 0; i < 100; i += 1) reads.note(denied);
      await reads.flush();
      await reads.flush();
      clock += 60_000;
    }
    const entries = await entriesOf(workspaceId);
    assert.deepEqual(entries.map(({ details }) => details['times']), [100, 100, 100]); // biome-ignore format: short
    assert.equal(entries[0]?.object_id, workspaceId);
  });

  test('cannot be filled by a reader who walks through many objects', async () => {
    const { workspaceId, reads, read } = await newLog();
    await using _ = reads;
    for (let i = 0; i < 5_000; i += 1) reads.note(read({ objectId: `dl_${i}` }));
    await reads.flush();
    const entries = await entriesOf(workspaceId);
    assert.equal(entries.length, 21);
    const rest = entries.find(({ object_id: id }) => id === workspaceId);
    assert.deepEqual([rest?.details['times'], rest?.details['objects']], [4_980, 4_980]);
    reads.note(read({ actor: { kind: 'token', id: 'tok_2', address: '192.0.2.9' }, objectId: 'dl_7777' }));
    await reads.flush();
    assert.equal((await entriesOf(workspaceId)).at(-1)?.object_id, 'dl_7777', 'another reader has entries of its own');
  });

  test('forgets objects after their time, and has room for others', async () => {
    const { workspaceId, reads, read } = await newLog();
    await using _ = reads;
    for (let round = 0; round < 3; round += 1) {
      for (let i = 0; i < 20; i += 1) reads.note(read({ objectId: `dl_${round}_${i}` }));
      await reads.flush();
      clock += 900_000;
      await reads.flush();
    }
    const entries = await entriesOf(workspaceId);
    assert.equal(entries.filter(({ object_id: id }) => id.startsWith('dl_')).length, 60);
  });

  test('writes everything when it stops', async () => {
    const { workspaceId, reads, read } = await newLog();
    reads.note(read());
    await reads.flush();
    reads.note(read());
    reads.note(read());
    await reads[Symbol.asyncDispose]();
    assert.deepEqual((await entriesOf(workspaceId)).map(({ details }) => details['times']), [1, 2]); // biome-ignore format: short
  });

  test('keeps its notes while the database is away, with the reads that come meanwhile', async () => {
    let isAway = true;
    const asSystem: Store['asSystem'] = (work) =>
      isAway ? Promise.reject(new StoreUnavailable('away')) : store.asSystem(work);
    const { workspaceId, reads, read } = await newLog({ ...store, asSystem });
    await using _ = reads;
    reads.note(read());
    await reads.flush();
    reads.note(read());
    assert.equal((await entriesOf(workspaceId)).length, 0);
    isAway = false;
    await reads.flush();
    assert.deepEqual((await entriesOf(workspaceId)).map(({ details }) => details['times']), [2]); // biome-ignore format: short
  });

  test('tells all workspaces of a person of a refusal outside of them, and writes nothing for a workspace that is gone', async () => {
    const { workspaceId, reads, read } = await newLog();
    await using _ = reads;
    const id = await addMember(store, workspaceId, { email: 'eve@example.com', passwordHash: null, role: 'viewer' });
    const actor = { kind: 'user', id, address: '192.0.2.1' };
    reads.note(read({ actor, workspaceId: undefined, action: 'permission.denied', objectId: undefined }));
    reads.note(read({ workspaceId: 'ws_gone' }));
    await reads.flush();
    assert.deepEqual((await entriesOf(workspaceId)).map(({ action }) => action), ['permission.denied']); // biome-ignore format: short
    assert.deepEqual(await entriesOf('ws_gone'), []);
  });
});

suite('the stream of an audit log', () => {
  test('does not wait for the receiver of another workspace', async () => {
    const keyRing = openKeyRing(new Map([[1, Buffer.alloc(32, 7)]]));
    const grow = (workspaceId: string) => {
      const entry = { at: now(), actor: { kind: 'test' }, action: 'test.made', objectId: 'o', details: {} };
      return store.asSystem((tx) => appendAudit(tx, workspaceId, entry));
    };
    const openOne = async () => {
      const workspaceId = await addWorkspace(store);
      const secretSealed = keyRing.seal('whsec_AAAA', auditSecretPlace(workspaceId, 'aus_1'));
      const stream = { workspaceId, id: 'aus_1', url: 'https://example.com/', secretSealed, position: 0 };
      await grow(workspaceId);
      await store.asSystem((tx) => setAuditStream(tx, stream));
      return workspaceId;
    };
    const [slow, quick] = [await openOne(), await openOne()];
    const slowAnswer = Promise.withResolvers<Awaited<ReturnType<Asks['ask']>>>();
    const taken = { kind: 'answered', answer: { kind: 'audit_posted', status: 200, why: null } } as const;
    const asked: (string | undefined)[] = [];
    const ask: Asks['ask'] = (question) => {
      const workspaceId = 'workspaceId' in question ? question.workspaceId : undefined;
      asked.push(workspaceId);
      return workspaceId === slow ? slowAnswer.promise : Promise.resolve(taken);
    };
    await using _ = startStreamingAudit({ store, keyRing, asks: { ask }, now, log });
    try {
      await until(() => asked.includes(slow) && asked.includes(quick));
      await grow(quick);
      await until(() => asked.filter((id) => id === quick).length === 2);
    } finally {
      slowAnswer.resolve(taken);
    }
  });
});
