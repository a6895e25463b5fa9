import assert from 'node:assert/strict';
import { after, before, suite, test } from 'node:test';
import { startMigratedPostgres } from '../../testing/migrated-postgres.ts';
import * as fc from 'fast-check';
import { awaitRecorders } from '../store/deliveries.ts';
import { eraseRecords } from '../store/erase-records.ts';
import { insertErasedUsers } from '../store/erased-users.ts';
import { openStore, type Store } from '../store/open-store.ts';
import type { OutcomeEntry } from '../domain/outcome.ts';
import { userHash } from '../domain/withheld.ts';
import { until } from '../../testing/until.ts';
import { insertWorkspace } from '../store/workspaces.ts';
import { attempted, BASE, facts } from '../../testing/outcomes.ts';
import { writeOutcomes } from './write-outcomes.ts';

const stack = new AsyncDisposableStack();
let store: Store;

before(async () => {
  const postgres = stack.use(await startMigratedPostgres());
  store = stack.use(await openStore(postgres.serviceUrl));
});
after(() => stack.disposeAsync());

const FOREVER = { recordsFrom: '2000-01-01', sample: 1, rows: 1 };
const write = (entries: OutcomeEntry[], needs = {}) =>
  store.asSystem((tx) => writeOutcomes(tx, entries, { ...FOREVER, knownPartitions: new Set(), ...needs }));

const rows = (sql: string): Promise<Record<string, unknown>[]> => store.asSystem((tx) => tx.query(sql));
const DELIVERIES = 'SELECT * FROM deliveries ORDER BY id';
const STATES = `SELECT id, state FROM deliveries UNION SELECT id, 'delivered' FROM plain_deliveries p
  WHERE NOT EXISTS (SELECT FROM deliveries d WHERE d.id = p.id) ORDER BY id`;
const ATTEMPTS = 'SELECT * FROM attempts ORDER BY delivery_id, at';
const COUNTS = 'SELECT outcome, sum(count)::int AS count FROM delivery_counts GROUP BY 1 ORDER BY 1';

async function empty(): Promise<void> {
  await rows('DELETE FROM deliveries');
  await rows('DELETE FROM plain_deliveries');
  await rows('DELETE FROM attempts');
  await rows('DELETE FROM delivery_counts');
}

suite('the record', () => {
  test('of a deleted destination ends what waited, also when nobody could say whose it was', async () => {
    await empty();
    const deleted = { kind: 'given_up', attempts: 1, reason: 'destination_deleted' } as const;
    const gone = { ...BASE, ...deleted, workspaceId: '', sourceId: '', at: Date.parse(BASE.receivedAt) + 9_000 };
    await write([attempted(1, 'retry', 503)]);
    await write([gone, { ...gone, deliveryId: 'dlv_unknown' }]);
    await write([gone]);
    const ends = 'SELECT id, workspace_id, source_id, state, reason FROM deliveries ORDER BY id';
    const { workspaceId, sourceId } = BASE;
    assert.deepEqual(await rows(ends), [
      {
        id: 'dlv_1',
        workspace_id: workspaceId,
        source_id: sourceId,
        state: 'discarded',
        reason: 'destination_deleted',
      },
    ]);
    assert.deepEqual(
      await rows(`SELECT workspace_id, error_class, count::int FROM delivery_counts WHERE outcome = 'discarded'`),
      [{ workspace_id: workspaceId, error_class: 'destination_deleted', count: 1 }],
    );
  });

  test('of batches in any order and number is the same, and its counters are what the model counts', async () => {
    const several = fc.tuple(...['dlv_a', 'dlv_b', 'dlv_c', 'dlv_d'].map((id) => facts(id)));
    const shuffled = fc.tuple(several, fc.infiniteStream(fc.nat({ max: 1_000 })), fc.integer({ min: 1, max: 7 }));
    await fc.assert(
      fc.asyncProperty(shuffled, async ([given, dice, size]) => {
        const entries = given.flat();
        await empty();
        await write(entries);
        const expected = [await rows(DELIVERIES), await rows(ATTEMPTS), model(entries)];
        assert.deepEqual(await rows(COUNTS), model(entries));
        await empty();
        const twice = [...entries, ...entries]
          .map((entry) => ({ entry, place: dice.next().value }))
          .toSorted((a, b) => a.place - b.place)
          .map(({ entry }) => entry);
        for (let at = 0; at < twice.length; at += size) await write(twice.slice(at, at + size));
        assert.deepEqual([await rows(DELIVERIES), await rows(ATTEMPTS), await rows(COUNTS)], expected);
        const states = (await rows(DELIVERIES)).map(({ id, state }) => ({ id, state }));
        await empty();
        // With rows left out, and with another share for each batch, as while the setting changes.
        for (let at = 0; at < twice.length; at += size) {
          await write(twice.slice(at, at + size), { rows: dice.next().value % 2 === 0 ? 0 : 1 });
        }
        assert.deepEqual([await rows(STATES), await rows(COUNTS)], [states, model(entries)]);
      }),
      { numRuns: 12 },
    );
  });

  test('keeps both attempts of a process that died in between, and counts the delivery once', async () => {
    await empty();
    await write([attempted(1, 'delivered', 200)]);
    await write([{ ...attempted(2, 'delivered', 200), attempt: 1 } as OutcomeEntry]);
    assert.equal((await rows(ATTEMPTS)).length, 2);
    assert.deepEqual(await rows(COUNTS), [{ outcome: 'delivered', count: 1 }]);
  });

  test('takes text that PostgreSQL does not know', async () => {
    await empty();
    const odd = 'a\u0000b\ud800c';
    const answers = [{ url: 'http://x', status: 500, body: odd, timings: { totalMs: 1 } }];
    const entry = { ...attempted(1, 'retry', 500), name: odd, userId: odd.repeat(1_000), answers } as OutcomeEntry;
    await write([entry]);
    const [row] = await rows(DELIVERIES);
    assert.equal(row?.['name'], 'a\ufffdb\ufffdc');
  });

  test('with sampling leaves out only attempts that went well at once', async () => {
    await empty();
    await write([attempted(1, 'delivered', 200), { ...attempted(1, 'retry', 500), deliveryId: 'dlv_2' }], {
      sample: 0,
    });
    assert.deepEqual(
      (await rows(ATTEMPTS)).map((row) => row['delivery_id']),
      ['dlv_2'],
    );
    assert.equal((await rows(DELIVERIES)).length, 2);
    assert.deepEqual(await rows(COUNTS), [
      { outcome: 'delivered', count: 1 },
      { outcome: 'retry', count: 1 },
    ]);
  });

  test('without rows of plain successes counts each once, and makes a row when anything else happens to one', async () => {
    await empty();
    const plain = attempted(1, 'delivered', 200);
    const again = { ...attempted(2, 'delivered', 200), attempt: 1 } as OutcomeEntry;
    const notification = { ...plain, deliveryId: 'dlv_3', type: 'delete' };
    for (const entry of [again, plain, again, notification]) await write([entry], { rows: 0 });
    assert.deepEqual(
      (await rows(DELIVERIES)).map(({ id }) => id),
      ['dlv_3'],
    );
    assert.deepEqual(await rows('SELECT id, delivered_at, status FROM plain_deliveries'), [
      { id: 'dlv_1', delivered_at: new Date(plain.at), status: 200 },
    ]);
    assert.deepEqual(await rows(COUNTS), [{ outcome: 'delivered', count: 2 }]);
    await write([{ ...attempted(3, 'retry', 503), replayId: 'rpl_1' }], { rows: 0 });
    const [row] = await rows(DELIVERIES);
    assert.deepEqual(
      [row?.['state'], row?.['changed_at'], row?.['last_status'], row?.['replay_id']],
      ['delivered', new Date(plain.at), 200, 'rpl_1'],
    );
    await write([plain, again], { rows: 0 });
    assert.deepEqual(await rows(COUNTS), [
      { outcome: 'delivered', count: 2 },
      { outcome: 'retry', count: 1 },
    ]);
  });

  test('an outcome that is written after its user was erased brings nothing of the user back', async () => {
    await empty();
    await write([attempted(1, 'retry', 503)]);
    const { promise: isRead, resolve: read } = Promise.withResolvers<void>();
    const { promise: isErased, resolve: erased } = Promise.withResolvers<void>();
    const recording = store.asSystem((tx) => {
      const slow: typeof tx = {
        async query(sql, values) {
          if (typeof sql === 'string' && sql.startsWith('INSERT INTO deliveries')) {
            read();
            await isErased;
          }
          return tx.query(sql, values);
        },
      };
      return writeOutcomes(slow, [attempted(2, 'delivered', 200)], { ...FOREVER, knownPartitions: new Set() });
    });
    await isRead;
    await rows('UPDATE deliveries SET user_id = NULL, anonymous_id = NULL, sentence = NULL, is_erased = true');
    erased();
    await recording;
    const [row] = await rows(DELIVERIES);
    assert.deepEqual(
      [row?.['user_id'], row?.['sentence'], row?.['is_erased'], row?.['state']],
      [null, null, true, 'delivered'],
    );
  });

  test('an erasure waits for the outcomes that are being written without knowing of it', async () => {
    await empty();
    const { promise: isReady, resolve: ready } = Promise.withResolvers<void>();
    const { promise: mayWrite, resolve: goOn } = Promise.withResolvers<void>();
    const recording = store.asSystem((tx) => {
      const slow: typeof tx = {
        async query(sql, values) {
          if (typeof sql === 'string' && sql.startsWith('INSERT INTO deliveries')) {
            ready();
            await mayWrite;
          }
          return tx.query(sql, values);
        },
      };
      return writeOutcomes(slow, [attempted(1, 'retry', 503)], { ...FOREVER, knownPartitions: new Set() });
    });
    await isReady;
    const { workspaceId, userId } = BASE;
    const before = new Date(Date.parse(BASE.receivedAt) + 1);
    const hashes = { workspaceId, userHashes: [userHash(workspaceId, userId)] };
    const mark = { ...hashes, sourceIds: [''], erasedBefore: before, suppressed: false };
    await store.asSystem(async (tx) => {
      await insertWorkspace(tx, { id: workspaceId, name: 'One' });
      await insertErasedUsers(tx, mark);
    });
    const users = { ...hashes, userIds: [userId], anonymousIds: [], sourceIds: [BASE.sourceId], before };
    const erasing = store.asSystem(awaitRecorders).then(() => store.asSystem((tx) => eraseRecords(tx, users)));
    await until(
      async () => (await rows(`SELECT FROM pg_locks WHERE locktype = 'advisory' AND NOT granted`)).length > 0,
    );
    goOn();
    await recording;
    const { deliveries, attempts } = await erasing;
    assert.deepEqual([deliveries, attempts], [1, 1]);
    await write([{ ...attempted(2, 'delivered', 200), deliveryId: 'dlv_2' }]);
    assert.deepEqual(
      (await rows(DELIVERIES)).map(({ user_id: user }) => user),
      [null, null],
    );
    await rows('DELETE FROM erased_users');
  });

  test('a retry that comes again after its user was erased is not counted again', async () => {
    await empty();
    const secret = { url: 'http://x', status: 503, body: 'u1 is unknown', timings: { totalMs: 1 } };
    const batch = [{ ...attempted(1, 'retry', 503), answers: [secret] } as OutcomeEntry, attempted(2, 'retry', 503)];
    await write(batch);
    const { workspaceId, userId } = BASE;
    const users = { workspaceId, userIds: [userId], userHashes: [userHash(workspaceId, userId)], anonymousIds: [] };
    const before = new Date(Date.parse(BASE.receivedAt) + 1);
    const erased = await store.asSystem((tx) => eraseRecords(tx, { ...users, sourceIds: [BASE.sourceId], before }));
    assert.deepEqual([erased.deliveries, erased.attempts], [1, 2]);
    await write(batch);
    assert.deepEqual(await rows(COUNTS), [{ outcome: 'retry', count: 2 }]);
    assert.deepEqual(
      (await rows(ATTEMPTS)).map(({ outcome, answers }) => [outcome, answers]),
      [
        ['retry', []],
        ['retry', []],
      ],
    );
  });

  test('only counts what happens to events that are older than the records that are kept', async () => {
    await empty();
    await write([attempted(1, 'delivered', 200)], { recordsFrom: '2999-01-01' });
    assert.deepEqual([(await rows(DELIVERIES)).length, (await rows(ATTEMPTS)).length], [0, 0]);
    assert.deepEqual(await rows(COUNTS), [{ outcome: 'delivered', count: 1 }]);
  });

  test('is shown to its own workspace only', async () => {
    await empty();
    await write([attempted(1, 'delivered', 200)]);
    const seenBy = (workspaceId: string) => store.inWorkspace(workspaceId, (tx) => tx.query(DELIVERIES));
    assert.deepEqual([(await seenBy('ws_1')).length, (await seenBy('ws_2')).length], [1, 0]);
  });
});

/** Each delivery once for each end it had; each attempt to be tried again once. */
function model(entries: readonly OutcomeEntry[]) {
  const counted = new Set(
    entries.flatMap((entry) => {
      if (entry.kind === 'waiting') return [];
      if (entry.kind === 'skipped') return [`skipped ${entry.deliveryId}`];
      if (entry.kind === 'given_up') return [`discarded ${entry.deliveryId}`];
      return [
        entry.outcome === 'retry' ? `retry ${entry.deliveryId} ${entry.at}` : `${entry.outcome} ${entry.deliveryId}`,
      ];
    }),
  );
  const byOutcome = Map.groupBy(counted, (key) => key.split(' ')[0] ?? '');
  return [...byOutcome]
    .map(([outcome, keys]) => ({ outcome, count: keys.length }))
    .toSorted((a, b) => (a.outcome < b.outcome ? -1 : 1));
}
