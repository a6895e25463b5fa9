import assert from 'node:assert/strict';
import { after, before, suite, test } from 'node:test';
import { startMigratedPostgres } from '../../testing/migrated-postgres.ts';
import * as fc from 'fast-check';
import { openStore, type Store } from '../store/open-store.ts';
import type { OutcomeEntry } from '../domain/outcome.ts';
import { dropOld, keepPartitions } from './keep-partitions.ts';
import { attempted, BASE, facts } from '../../testing/outcomes.ts';
import { openLog } from '../log.ts';
import { writeOutcomes } from './write-outcomes.ts';

const stack = new AsyncDisposableStack();
let store: Store;

before(async () => {
  const postgres = stack.use(await startMigratedPostgres());
  store = stack.use(await openStore(postgres.serviceUrl));
});
after(() => stack.disposeAsync());

const FOREVER = { recordsFrom: '2000-01-01', sample: 1 };
const write = (entries: OutcomeEntry[], needs = {}) =>
  store.asSystem((tx) => writeOutcomes(tx, entries, { ...FOREVER, knownPartitions: new Set(), ...needs }));

const rows = (sql: string): Promise<Record<string, unknown>[]> => store.asSystem((tx) => tx.query(sql));
const DELIVERIES = 'SELECT * FROM deliveries ORDER BY id';
const ATTEMPTS = 'SELECT * FROM attempts ORDER BY delivery_id, at';
const COUNTS = 'SELECT outcome, sum(count)::int AS count FROM delivery_counts GROUP BY 1 ORDER BY 1';

async function empty(): Promise<void> {
  await rows('DELETE FROM deliveries');
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

suite('days of the record', () => {
  const settings = { recordRetentionMs: 7 * 86_400_000, counterRetentionMs: 400 * 86_400_000, sample: 1 };
  const partitions = async () =>
    (
      await rows(`SELECT relname FROM pg_class WHERE relname ~ '^(deliveries|attempts)_2' AND relkind = 'r' ORDER BY 1`)
    ).map((row) => row['relname']);

  test('are made for today and tomorrow, and dropped whole after their time', async () => {
    const now = () => new Date('2031-05-10T23:00:00Z');
    const needs = { store, settings, now, log: openLog({ level: 'silent', pretty: false }) };
    await keepPartitions(needs)[Symbol.asyncDispose]();
    const names = ['attempts_20310510', 'attempts_20310511', 'deliveries_20310510', 'deliveries_20310511'];
    assert.deepEqual(await partitions(), names);
    const old = { ...BASE, receivedAt: '2031-05-02T10:00:00.000Z', at: Date.parse('2031-05-02T10:00:01Z') };
    await write([{ ...old, kind: 'skipped', reason: 'blocked_event' }]);
    assert.ok((await partitions()).includes('deliveries_20310502'));
    // A day that the record has, the history of memberships has too.
    const dropped = ['deliveries_20310502', 'attempts_20310502', 'membership_changes_20310502'];
    assert.deepEqual(await dropOld(needs), dropped);
    assert.deepEqual(await partitions(), names);
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
