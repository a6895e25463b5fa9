/** Batches that PostgreSQL refuses: each trouble is provoked in a real server, and each batch must outlive it. */
import assert from 'node:assert/strict';
import { after, before, beforeEach, suite, test } from 'node:test';
import { startNatsCluster, type PostgresServer } from '@millrace/engines';
import { startMigratedPostgres } from '../../testing/migrated-postgres.ts';
import { openLog } from '../log.ts';
import { openMetrics } from '../metrics/open-metrics.ts';
import { openStore, type Store } from '../store/open-store.ts';
import { openInspector } from '../../testing/inspector.ts';
import type { DeliverySide } from '../stream/open-delivery-side.ts';
import { openStream, type Stream } from '../stream/open-stream.ts';
import { openQuarantineBox, type QuarantineBox } from '../stream/quarantine/quarantine.ts';
import type { OutcomeEntry } from '../domain/outcome.ts';
import { openLogLines } from '../../testing/log-lines.ts';
import { attempted } from '../../testing/outcomes.ts';
import { startRecording } from './start-recording.ts';
import { STREAM_SETTINGS } from '../../testing/stream-settings.ts';
import { staysTrueFor, until } from '../../testing/until.ts';

const BATCHES = 50;
const A_MINUTE = 60_000;
const stack = new AsyncDisposableStack();
const metrics = openMetrics();
const settings = { recordRetentionMs: 7 * 86_400_000, counterRetentionMs: 400 * 86_400_000, sample: 1, rows: 1 };
let postgres: PostgresServer;
let store: Store;
let stream: Stream;
let delivery: DeliverySide;
/** Of no control side: that one gives streams their sizes back every ten seconds. */
let quarantine: QuarantineBox;
let inspector: Awaited<ReturnType<typeof openInspector>>;
let told = 0;
const { log, lines, of: logged } = openLogLines();

before(async () => {
  const silent = openLog({ level: 'silent', pretty: false });
  const nats = stack.use(await startNatsCluster());
  postgres = stack.use(await startMigratedPostgres());
  store = stack.use(await openStore(postgres.serviceUrl));
  stream = stack.use(await openStream({ natsUrl: nats.url, settings: STREAM_SETTINGS, log: silent, metrics }));
  delivery = stack.use(await stream.deliverySide());
  inspector = stack.use(await openInspector(nats.url, silent));
  quarantine = openQuarantineBox(inspector.manager);
});
after(() => stack.disposeAsync());
beforeEach(() => {
  postgres.run('TRUNCATE deliveries, attempts, delivery_counts');
  told = 0;
  lines.length = 0;
});

async function record(): Promise<AsyncDisposable> {
  const recording = new AsyncDisposableStack();
  const side = recording.use(await stream.recordSide());
  recording.use(startRecording({ store, side, settings, log }));
  return recording;
}

const delivered = (change: Partial<OutcomeEntry> = {}): OutcomeEntry =>
  ({ ...attempted(1, 'delivered', 200), deliveryId: `dlv_${(told += 1)}`, ...change }) as OutcomeEntry;

async function tell(...entries: unknown[]): Promise<void> {
  assert.equal(await delivery.outcomes.append(JSON.stringify({ entries })), 'stored');
}

async function tellBatches(count: number): Promise<void> {
  for (let batch = 0; batch < count; batch += 1) await tell(delivered());
}

/** Messages that were not acknowledged: a work queue drops the others. */
const waiting = async () => (await inspector.manager.streams.info('OUTCOMES')).state.messages;
const rows = () => Number(postgres.run('SELECT count(*) FROM deliveries'));

const raise = (code: string) =>
  `CREATE FUNCTION refuse() RETURNS trigger LANGUAGE plpgsql AS
    $$ BEGIN RAISE EXCEPTION 'provoked' USING ERRCODE = '${code}'; END $$;
  CREATE TRIGGER refuse BEFORE INSERT ON deliveries EXECUTE FUNCTION refuse()`;
const raised = (code: string) => [raise(code), 'DROP FUNCTION refuse CASCADE'] as const;
/** Twice: PostgreSQL takes no other statement beside ALTER SYSTEM. */
const setSystem = (value: string) => () => {
  postgres.run(`ALTER SYSTEM SET default_transaction_read_only = ${value}`);
  postgres.run('SELECT pg_reload_conf()');
};

const TROUBLES: readonly (readonly [name: string, provoke: string | (() => void), mend: string | (() => void)])[] = [
  ['the disk is full (53100)', ...raised('53100')],
  ['it is a read-only standby (25006)', setSystem('on'), setSystem('off')],
  ['it breaks deadlocks (40P01)', ...raised('40P01')],
  ['its disk fails (58030)', ...raised('58030')],
  [
    'a column has another name (42703)',
    'ALTER TABLE deliveries RENAME sentence TO phrase',
    'ALTER TABLE deliveries RENAME phrase TO sentence',
  ],
  ['rights are missing (42501)', 'REVOKE ALL ON attempts FROM millrace_app', 'GRANT ALL ON attempts TO millrace_app'],
  ['it reaches a limit of its own (54000)', ...raised('54000')],
  ['an extension raises a code of its own (P0001)', ...raised('P0001')],
];

suite('the record keeps what PostgreSQL refuses', () => {
  for (const [name, provoke, mend] of TROUBLES) {
    test(`while ${name}, ${BATCHES} of ${BATCHES} batches wait, and are written when it is well again`, async () => {
      const make = (change: string | (() => void)) =>
        typeof change === 'string' ? void postgres.run(change) : change();
      make(provoke);
      try {
        await tellBatches(BATCHES);
        await using _ = await record();
        await until(() => logged('record.waiting').length > 0, A_MINUTE);
        await staysTrueFor(700, async () => (await waiting()) === BATCHES && logged('record.waiting').length === 1);
        make(mend);
        await until(async () => rows() === BATCHES && (await waiting()) === 0, A_MINUTE);
        assert.equal((await quarantine.counts()).get('outcome'), 0);
      } finally {
        if (rows() < BATCHES) make(mend);
      }
    });
  }

  test('an entry that PostgreSQL can never hold is quarantined alone, and the other 49 are written', async () => {
    const entries = Array.from({ length: 25 }, () => delivered());
    const others = Array.from({ length: 24 }, () => delivered());
    const bad = delivered({ type: 'nul \u0000' });
    await tell(...entries, bad, ...others);
    await using _ = await record();
    await until(async () => (await waiting()) === 0, A_MINUTE);
    assert.equal(rows(), 49);
    const [entry, ...more] = await quarantine.read('outcome', 0, 10);
    assert.equal(more.length, 0);
    assert.deepEqual(JSON.parse(Buffer.from(entry?.payload ?? []).toString()), { entries: [bad] });
    assert.match(entry?.why ?? '', /unsupported Unicode|\\u0000|0x00/);
    assert.equal(entry?.from.stream, 'OUTCOMES');
    assert.match(await metrics.text(), /^millrace_quarantined_total\{kind="outcome"\} 1$/m);
    assert.equal(logged('outcome.quarantined').length, 1);
    await quarantine.remove(entry?.sequence ?? 0);
  });

  test('a batch that cannot be read is quarantined with its bytes', async () => {
    assert.equal(await delivery.outcomes.append('{"entries": ['), 'stored');
    await tellBatches(3);
    await using _ = await record();
    await until(async () => (await waiting()) === 0, A_MINUTE);
    assert.equal(rows(), 3);
    const [entry] = await quarantine.read('outcome', 0, 10);
    assert.equal(Buffer.from(entry?.payload ?? []).toString(), '{"entries": [');
    await quarantine.remove(entry?.sequence ?? 0);
  });

  test('a batch that our own code stumbles over waits, and holds up no other', async () => {
    // The reader of batches looks no further into answers than it has to.
    const answers = [{ url: 'https://one.example', timings: { totalMs: 1 }, message: 7 }];
    await tell({ ...delivered(), answers });
    told -= 1;
    await tellBatches(BATCHES);
    await using _ = await record();
    await until(async () => rows() === BATCHES && (await waiting()) === 1, A_MINUTE);
    assert.equal(logged('outcomes.set_aside').length, 1);
    await tellBatches(2);
    await until(async () => rows() === BATCHES + 2 && (await waiting()) === 1, A_MINUTE);
    await inspector.manager.streams.purge('OUTCOMES');
  });

  test('while the quarantine is full, a refused entry waits and holds up no other', async () => {
    const { config } = await inspector.manager.streams.info('QUARANTINE');
    await inspector.manager.streams.update('QUARANTINE', { ...config, max_bytes: 1 });
    await tell(delivered({ type: 'nul \u0000' }), delivered());
    await tellBatches(5);
    await using _ = await record();
    await until(async () => rows() === 6 && (await waiting()) === 1, A_MINUTE);
    await inspector.manager.streams.update('QUARANTINE', config);
    await until(async () => (await waiting()) === 0, A_MINUTE);
    assert.equal((await quarantine.counts()).get('outcome'), 1);
    await quarantine.remove((await quarantine.read('outcome', 0, 1))[0]?.sequence ?? 0);
  });

  test('a partition that another process dropped is made anew, and is no reason to quarantine', async () => {
    await tellBatches(2);
    await using _ = await record();
    await until(() => rows() === 2, A_MINUTE);
    const day = delivered().receivedAt.slice(0, 10).replaceAll('-', '');
    postgres.run(`DROP TABLE deliveries_${day}`);
    await tellBatches(2);
    await until(async () => rows() === 2 && (await waiting()) === 0, A_MINUTE);
    assert.equal((await quarantine.counts()).get('outcome'), 0);
  });
});
