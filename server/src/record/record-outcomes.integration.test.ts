import assert from 'node:assert/strict';
import { after, before, suite, test } from 'node:test';
import { startNatsCluster, type PostgresServer } from '@millrace/engines';
import { startMigratedPostgres } from '../../testing/migrated-postgres.ts';
import { openStore, type Store } from '../store/open-store.ts';
import { lockUsagePosition, readUsagePosition, setUsagePosition } from '../store/usage.ts';
import type { DeliverySide } from '../stream/open-delivery-side.ts';
import { openStream, type Stream } from '../stream/open-stream.ts';
import { openLogLines } from '../../testing/log-lines.ts';
import { attempted } from '../../testing/outcomes.ts';
import { openWaitingLine } from '../stream/nats/waiting-line.ts';
import { startRecorder } from './record-outcomes.ts';
import { startRecording } from './start-recording.ts';
import { STREAM_SETTINGS } from '../../testing/stream-settings.ts';
import { until } from '../../testing/until.ts';

const { log, of: logged } = openLogLines();
const stack = new AsyncDisposableStack();
const A_DAY = 86_400_000;
const settings = { recordRetentionMs: 7 * 86_400_000, counterRetentionMs: 400 * 86_400_000, sample: 1, rows: 1 };
let postgres: PostgresServer;
let store: Store;
let stream: Stream;
let delivery: DeliverySide;
let told = 0;

before(async () => {
  const nats = stack.use(await startNatsCluster());
  postgres = stack.use(await startMigratedPostgres());
  store = stack.use(await openStore(postgres.serviceUrl));
  const layout = { ...STREAM_SETTINGS, eventStreams: 2 };
  stream = stack.use(await openStream({ natsUrl: nats.url, settings: layout, log }));
  delivery = stack.use(await stream.deliverySide());
});
after(() => stack.disposeAsync());

async function record(): Promise<AsyncDisposable> {
  const recording = new AsyncDisposableStack();
  const side = recording.use(await stream.recordSide());
  recording.use(startRecording({ store, side, settings, log }));
  return recording;
}

/** Batches of 50 deliveries, each delivered at once. */
async function tell(batches: number): Promise<void> {
  for (let batch = 0; batch < batches; batch += 1) {
    const entries = Array.from({ length: 50 }, () => ({
      ...attempted(1, 'delivered', 200),
      deliveryId: `dlv_${(told += 1)}`,
    }));
    assert.equal(await delivery.outcomes.append(JSON.stringify({ entries })), 'stored');
  }
}

async function counted(): Promise<number[]> {
  const sql = `SELECT (SELECT count(*) FROM deliveries)::int AS rows, (SELECT count(*) FROM attempts)::int AS attempts,
    (SELECT coalesce(sum(count), 0) FROM delivery_counts)::int AS counts`;
  const [row] = await store.asSystem((tx) => tx.query<Record<string, number>>(sql)).catch(() => []);
  return Object.values(row ?? {});
}

async function untilRecorded(): Promise<void> {
  let counts: number[] = [];
  const isRecorded = async () => (counts = await counted())[2] === told;
  await until(isRecorded, 30_000, () => `${counts.join()} of ${told}`);
  assert.deepEqual(await counted(), [told, told, told]);
}

suite('the recorder', () => {
  test('that was stopped catches up, and every delivery is counted once', async () => {
    const first = await record();
    await tell(10);
    await untilRecorded();
    await first[Symbol.asyncDispose]();
    await tell(100);
    await using _ = await record();
    await untilRecorded();
  });

  test('goes on when PostgreSQL was away in between', async () => {
    await using _ = await record();
    await tell(5);
    postgres.stop('immediate');
    await tell(20);
    await until(() => logged('record.waiting').length > 0);
    postgres.start();
    await tell(5);
    await untilRecorded();
  });

  test('shares the work with another process, and nothing is counted twice', async () => {
    await using one = await record();
    await using other = await record();
    assert.ok(one && other);
    await tell(60);
    await untilRecorded();
  });

  test('gathers no longer once it holds half of what it may', async () => {
    await using recording = new AsyncDisposableStack();
    const side = recording.use(await stream.recordSide());
    const [name = ''] = await side.outcomesStreams();
    const limits = { turns: openWaitingLine(1), mostHeld: () => 4, gatherMs: A_DAY };
    recording.use(startRecorder({ store, side, settings, now: () => new Date(), log, ...limits }, name));
    for (let round = 0; round < 3; round += 1) {
      await tell(2);
      await untilRecorded();
    }
  });
});

suite('usage', () => {
  const CALLS = 7;
  const append = (id: string, envelope: object, calls: number) => {
    const receivedAt = '2026-10-31T23:59:59.999Z';
    const body = Buffer.from(
      JSON.stringify({ batch: Array.from({ length: calls }, () => ({ type: 'track', event: 'E', userId: 'u' })) }),
    );
    const text = JSON.stringify({ shape: 'batch', receivedAt, requestId: id, ...envelope });
    return stream.append({ sourceId: 'src_1', id, home: told++, envelope: text, body });
  };
  const usage = async () => {
    const sql = 'SELECT month::text, calls::int FROM usage';
    return store.asSystem((tx) => tx.query<{ month: string; calls: number }>(sql));
  };

  test('counts the calls of every stored request once, with two counters and after a restart, also old envelopes', async () => {
    await store.asSystem(async (tx) => {
      await tx.query(`INSERT INTO workspaces (id, name) VALUES ('ws_1', 'W')`);
      await tx.query(`INSERT INTO sources (workspace_id, id, name) VALUES ('ws_1', 'src_1', 'S')`);
    });
    const first = await record();
    const second = await record();
    for (let i = 0; i < 40; i += 1) await append(`r${i}`, { calls: CALLS }, CALLS);
    await append('old', {}, 3);
    for (const receivedAt of ['soon', '+012026-11-16T00:00:00Z', '2026-13-01'])
      await append(receivedAt, { receivedAt, calls: 9 }, 9);
    await append('odd', { calls: 1.5 }, 9);
    await append('none', { receivedAt: null, calls: -4 }, 9);
    await append('last', { calls: 1 }, 1);
    await until(async () => (await usage())[0]?.calls === 40 * CALLS + 4);
    await first[Symbol.asyncDispose]();
    await second[Symbol.asyncDispose]();
    await append('later', { calls: 2 }, 2);
    await using _ = await record();
    await until(async () => (await usage())[0]?.calls === 40 * CALLS + 6);
    // One more in each stream: its counter has been past all others by then.
    for (const id of ['after', 'after that']) await append(id, { calls: 1 }, 1);
    await until(async () => (await usage())[0]?.calls !== 40 * CALLS + 6);
    await until(async () => (await usage())[0]?.calls !== 40 * CALLS + 7);
    assert.deepEqual(await usage(), [{ month: '2026-10-01', calls: 40 * CALLS + 8 }]);
  });

  test('keeps a place with the position, which ends with a position of an earlier version', async () => {
    const place = { sequence: 7, times: { createdAt: 1_700_000_000_000, storedAt: 1_700_000_000_500 } };
    const read = () => store.asSystem((tx) => readUsagePosition(tx, 'EVENTS-99'));
    assert.deepEqual(await read(), { sequence: 0 });
    await store.asSystem(async (tx) => {
      await lockUsagePosition(tx, 'EVENTS-99');
      await setUsagePosition(tx, 'EVENTS-99', place);
    });
    assert.deepEqual(await read(), place);
    await store.asSystem((tx) => tx.query(`UPDATE usage_positions SET sequence = 9 WHERE stream = 'EVENTS-99'`));
    assert.deepEqual(await read(), { sequence: 9 });
  });
});
