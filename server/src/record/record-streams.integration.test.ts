import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { after, before, suite, test } from 'node:test';
import { type NatsCluster, type PostgresServer, startNatsCluster } from '@millrace/engines';
import { childProgram } from '../../testing/child-program.ts';
import { startMigratedPostgres } from '../../testing/migrated-postgres.ts';
import { openLeanBatch, openWholeBatch } from '../domain/lean-outcomes.ts';
import type { OutcomeEntry } from '../domain/outcome.ts';
import { openLog } from '../log.ts';
import { openStore, type Store } from '../store/open-store.ts';
import { outcomesHome } from '../stream/layout/record-slots.ts';
import type { Outcomes } from '../stream/deliveries/outcomes.ts';
import { openStream } from '../stream/open-stream.ts';
import { openInspector } from '../../testing/inspector.ts';
import { attempted } from '../../testing/outcomes.ts';
import { STREAM_SETTINGS } from '../../testing/stream-settings.ts';
import { until } from '../../testing/until.ts';
import { startRecorders } from './record-streams.ts';

const CHILD = childProgram('recorder-child.ts');
const log = openLog({ level: 'silent', pretty: false });
const settings = { recordRetentionMs: 7 * 86_400_000, counterRetentionMs: 400 * 86_400_000, sample: 1, rows: 1 };
const STREAMS = 3;
/**
 * Before queries of the first transaction of a recorder, which has thirteen or more (seven of them for partitions), around its commit, and after
 * an acknowledgement.
 */
const STEPS = [
  '1',
  '4',
  ...Array.from({ length: 6 }, (_, index) => String(index + 8)),
  'commit',
  'committed',
  'acknowledged',
];

const stack = new AsyncDisposableStack();
let nats: NatsCluster;
let postgres: PostgresServer;
let store: Store;
let inspector: Awaited<ReturnType<typeof openInspector>>;
let told = 0;

before(async () => {
  nats = stack.use(await startNatsCluster());
  postgres = stack.use(await startMigratedPostgres());
  store = stack.use(await openStore(postgres.serviceUrl));
  inspector = stack.use(await openInspector(nats.url, log));
});
after(() => stack.disposeAsync());

type Opened = AsyncDisposable & { outcomes: Outcomes };

/** The processes of an installation with this number of streams. */
async function open(outcomeStreams: number, { records }: { records: boolean }): Promise<Opened> {
  await using opening = new AsyncDisposableStack();
  const stream = opening.use(
    await openStream({ natsUrl: nats.url, settings: { ...STREAM_SETTINGS, outcomeStreams }, log }),
  );
  const { outcomes } = opening.use(await stream.deliverySide());
  if (records) {
    const side = opening.use(await stream.recordSide());
    opening.use(startRecorders({ store, side, settings, now: () => new Date(), log, listMs: 100 }));
  }
  const opened = opening.move();
  return { outcomes, [Symbol.asyncDispose]: () => opened.disposeAsync() };
}

/** Some deliveries, each with a retry and a success, in batches of their own; every batch is stored in two streams. */
async function tell(outcomes: Outcomes, streams: number): Promise<void> {
  const ids = Array.from({ length: 20 }, () => `dlv_${(told += 1)}`);
  for (const entry of [attempted(1, 'retry', 503), attempted(2, 'delivered', 200)]) {
    const entries = ids.map((deliveryId): OutcomeEntry => ({ ...entry, deliveryId }));
    for (const [home, own] of Map.groupBy(entries, ({ deliveryId }) => outcomesHome(deliveryId, streams))) {
      const gathered = outcomes.format === 'lean' ? openLeanBatch() : openWholeBatch();
      for (const each of own) gathered.add(each);
      const batch = gathered.text();
      for (const at of [home, home + 1]) assert.equal(await outcomes.append(batch, at % streams), 'stored');
    }
  }
}

async function counted(): Promise<Record<string, number> | undefined> {
  const sql = `SELECT (SELECT count(*) FROM deliveries WHERE state = 'delivered' AND attempts = 2)::int AS rows,
    (SELECT count(*) FROM attempts)::int AS attempts,
    (SELECT coalesce(sum(count), 0) FROM delivery_counts WHERE outcome = 'delivered')::int AS delivered,
    (SELECT coalesce(sum(count), 0) FROM outcome_slots WHERE outcome = 'delivered')::int AS slots,
    (SELECT coalesce(sum(count), 0) FROM delivery_counts WHERE outcome = 'retry')::int AS retries`;
  const [row] = await store.asSystem((tx) => tx.query<Record<string, number>>(sql));
  return row;
}

/** By stream, those that are not acknowledged. */
async function waiting(): Promise<[string, number][]> {
  const streams = await Array.fromAsync(inspector.manager.streams.list());
  return streams
    .filter(({ config }) => config.name.startsWith('OUTCOMES'))
    .map(({ config, state }) => [config.name, state.messages]);
}

async function untilExact(): Promise<void> {
  await until(async () => (await waiting()).every(([, messages]) => messages === 0));
  assert.deepEqual(await counted(), { rows: told, attempts: 2 * told, delivered: told, slots: told, retries: told });
}

suite('several streams of outcomes', () => {
  test('are recorded exactly, whatever their number was before, is and becomes, and surplus ones go when they are empty', async () => {
    for (const streams of [1, 3, 2]) {
      await using silent = await open(streams, { records: false });
      await tell(silent.outcomes, streams);
    }
    assert.deepEqual((await waiting()).map(([name]) => name).sort(), ['OUTCOMES', 'OUTCOMES-1', 'OUTCOMES-2']);
    await using former = await open(3, { records: true });
    await using one = await open(2, { records: true });
    await Promise.all([tell(former.outcomes, 3), tell(one.outcomes, 2)]);
    await untilExact();
    await using _ = await open(2, { records: false });
    assert.deepEqual((await waiting()).map(([name]) => name).sort(), ['OUTCOMES', 'OUTCOMES-1']);
    // A process with the former number goes on, and its batches find another stream.
    await tell(former.outcomes, 3);
    await untilExact();
  });

  test('refuse a batch only when all of them are full, and not while one has no leader', async () => {
    await using telling = await open(2, { records: false });
    const { manager } = inspector;
    const { config } = await manager.streams.info('OUTCOMES-1');
    const subjects = config.subjects ?? [];
    await manager.streams.update('OUTCOMES', { max_bytes: 1 });
    assert.equal(await telling.outcomes.append('{"entries":[]}', 0), 'stored');
    // Without the subject it answers as a stream without a leader does.
    await manager.streams.update('OUTCOMES-1', { subjects: ['elsewhere'] });
    assert.equal(await telling.outcomes.append('{"entries":[]}', 1), 'unavailable');
    await manager.streams.update('OUTCOMES-1', { subjects, max_bytes: 1 });
    assert.equal(await telling.outcomes.append('{"entries":[]}', 1), 'full');
    await using _ = await open(2, { records: true });
    await untilExact();
  });

  test('hold more than a smaller share of the store allows, and lose nothing of it', async () => {
    await using telling = await open(1, { records: false });
    await tell(telling.outcomes, 1);
    const before = await waiting();
    await inspector.manager.streams.update('OUTCOMES', { max_bytes: 1 });
    assert.deepEqual(await waiting(), before);
    await using _ = await open(2, { records: true });
    await untilExact();
  });

  test('are recorded exactly when recorders are killed between any two steps', async () => {
    await using telling = await open(STREAMS, { records: false });
    const killed = STEPS.map(async (step) => {
      const args = [CHILD, nats.url, postgres.serviceUrl, String(STREAMS), step];
      const child = spawn(process.execPath, args, { stdio: ['ignore', 'ignore', 'inherit'] });
      const [, signal] = (await once(child, 'exit')) as [number | null, string | null];
      return `${step} ${signal}`;
    });
    const life = { isOver: false };
    const ends = Promise.all(killed).finally(() => (life.isOver = true));
    while (!life.isOver) await tell(telling.outcomes, STREAMS);
    assert.deepEqual(
      await ends,
      STEPS.map((step) => `${step} SIGKILL`),
    );
    await using _ = await open(STREAMS, { records: true });
    await untilExact();
  });
});
