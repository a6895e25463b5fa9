import assert from 'node:assert/strict';
import { after, before, suite, test } from 'node:test';
import { type PostgresServer } from '@millrace/engines';
import { startMigratedPostgres } from '../../testing/migrated-postgres.ts';
import { openStore, type Store } from '../store/open-store.ts';
import { makeDayPartitions } from '../store/record-partitions.ts';
import { attempted, BASE } from '../../testing/outcomes.ts';
import { openLogLines } from '../../testing/log-lines.ts';
import { until } from '../../testing/until.ts';
import { openLog } from '../log.ts';
import type { OutcomeEntry } from '../domain/outcome.ts';
import { dropOld, keepPartitions } from './keep-partitions.ts';
import { writeOutcomes } from './write-outcomes.ts';

const stack = new AsyncDisposableStack();
let postgres: PostgresServer;
let store: Store;

before(async () => {
  postgres = stack.use(await startMigratedPostgres());
  store = stack.use(await openStore(postgres.serviceUrl));
});
after(() => stack.disposeAsync());

const settings = { recordRetentionMs: 7 * 86_400_000, counterRetentionMs: 400 * 86_400_000, sample: 1, rows: 1 };
const log = openLog({ level: 'silent', pretty: false });
const rows = (sql: string): Promise<Record<string, unknown>[]> => store.asSystem((tx) => tx.query(sql));
const write = (entries: OutcomeEntry[]) =>
  store.asSystem((tx) =>
    writeOutcomes(tx, entries, { recordsFrom: '2000-01-01', sample: 1, rows: 1, knownPartitions: new Set() }),
  );
const skippedOn = (day: string): OutcomeEntry => {
  const receivedAt = `${day}T10:00:00.000Z`;
  return { ...BASE, receivedAt, at: Date.parse(receivedAt) + 1_000, kind: 'skipped', reason: 'blocked_event' };
};

/** Of two tables, with the days of each. */
async function partitions(): Promise<string[]> {
  const found = postgres.run(`SELECT name || ' ' || end_day - first_day FROM
    (SELECT * FROM record_partitions('deliveries') UNION ALL SELECT * FROM record_partitions('attempts')) AS both_tables ORDER BY name`);
  return found.trim().split('\n');
}

suite('days of the record', () => {
  const now = () => new Date('2031-05-10T23:00:00Z');
  const needs = () => ({ store, settings, now, log });
  const NAMES = ['attempts_20310510 1', 'attempts_20310511 1', 'deliveries_20310510 1', 'deliveries_20310511 1'];

  test('are made for today and, late in the day, for tomorrow, and dropped whole after their time', async () => {
    await keepPartitions(needs())[Symbol.asyncDispose]();
    assert.deepEqual(await partitions(), NAMES);
    await write([skippedOn('2031-05-02')]);
    assert.ok((await partitions()).includes('deliveries_20310502 1'));
    // A day that the record has, the history of memberships has too.
    const dropped = ['deliveries', 'plain_deliveries', 'attempts', 'membership_changes'].map(
      (name) => `${name}_20310502`,
    );
    assert.deepEqual(await dropOld(needs()), dropped);
    assert.deepEqual(await partitions(), NAMES);
  });

  test('are not dropped while a question reads them, and do not hold up other questions for long', async () => {
    await write([skippedOn('2031-05-03')]);
    const reading = stack.use(await openStore(postgres.serviceUrl));
    const { promise: isOver, resolve: over } = Promise.withResolvers<void>();
    const { promise: isBegun, resolve: begun } = Promise.withResolvers<void>();
    const question = reading.asSystem(async (tx) => {
      await tx.query('SELECT count(*) FROM deliveries');
      begun();
      await isOver;
    });
    await isBegun;
    await rows(`INSERT INTO outcome_slots VALUES ('ws_old', '2031-05-01T00:00:00Z', 'delivered', 1)`);
    const { log: heard, of } = openLogLines();
    await keepPartitions({ ...needs(), log: heard, now: () => new Date('2031-05-11T23:00:00Z') })[
      Symbol.asyncDispose
    ]();
    over();
    await question;
    const [failed, ...others] = of('partitions.failed');
    assert.deepEqual([failed?.['step'], others], ['drop', []]);
    assert.match(String(failed?.['error']), /lock timeout/);
    assert.deepEqual(
      await rows(`SELECT FROM outcome_slots WHERE workspace_id = 'ws_old'`),
      [],
      'later steps were taken',
    );
    assert.equal((await rows('SELECT count(*)::int AS count FROM deliveries'))[0]?.['count'], 1);
    await dropOld({ ...needs(), now: () => new Date('2031-05-11T23:00:00Z') });
  });

  test('share a partition where few rows are kept for long, beside days that have their own, and go with its last day', async () => {
    const make = (day: string) => store.asSystem((tx) => makeDayPartitions(tx, day, 400));
    await rows(`SELECT make_record_partition('deliveries', '2032-03-16', '2032-03-17')`);
    // An earlier version and this one agree on what is there already.
    for (const day of ['2032-03-14', '2032-03-16', '2032-03-17', '2032-03-15']) await make(day);
    await rows(`SELECT make_record_partition('deliveries', '2032-03-18', '2032-03-19')`);
    const made = (await partitions()).filter((name) => /deliveries_2032/.test(name));
    assert.equal(made.length, 3, made.join());
    assert.ok(made.includes('deliveries_20320316 1'), made.join());
    await write([skippedOn('2032-03-18'), skippedOn('2032-03-15')]);
    const last = Number(made.at(-1)?.split(' ')[1]);
    assert.ok(last > 1, made.join());
    const dropped = await dropOld({ ...needs(), now: () => new Date('2032-03-25T12:00:00Z') });
    assert.ok(dropped.includes('deliveries_20320316') && !dropped.includes('deliveries_20320317'), dropped.join());
  });

  test('lie in parts where rows are many; the record works as ever, and goes as a whole', async () => {
    const busy = `INSERT INTO outcome_slots SELECT 'ws_busy', date_bin('10 minutes', now(), 'epoch') - step * interval '10 minutes',
      'delivered', 420000 FROM generate_series(-1, 145) AS step`;
    await rows(busy);
    const day = '2033-01-01';
    await store.asSystem((tx) => makeDayPartitions(tx, day, 7));
    const parts = `SELECT count(*) FROM pg_class WHERE relname ~ '_20330101_[0-9]+$' AND relkind = 'r'`;
    assert.equal(Number(postgres.run(parts)), 3 * 4);
    const receivedAt = `${day}T10:00:00.000Z`;
    const entries = Array.from({ length: 50 }, (_, index): OutcomeEntry[] => {
      const own = { deliveryId: `dlv_part_${index}`, receivedAt };
      return [
        { ...attempted(1, 'retry', 503), ...own },
        { ...attempted(2, 'delivered', 200), ...own },
      ];
    }).flat();
    for (const _ of ['once', 'again']) await write(entries);
    const found = await rows(`SELECT state, count(*)::int, count(DISTINCT tableoid)::int AS parts FROM deliveries
      WHERE id LIKE 'dlv_part_%' GROUP BY state`);
    assert.deepEqual(found, [{ state: 'delivered', count: 50, parts: 4 }]);
    assert.deepEqual(await rows(`SELECT count(*)::int FROM attempts WHERE delivery_id LIKE 'dlv_part_%'`), [
      { count: 100 },
    ]);
    await dropOld({ ...needs(), now: () => new Date('2033-02-01T12:00:00Z') });
    assert.equal(Number(postgres.run(parts)), 0);
    await until(async () => (await rows(`SELECT FROM deliveries WHERE id LIKE 'dlv_part_%'`)).length === 0);
  });
});
