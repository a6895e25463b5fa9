import { type ChildProcess, spawn } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { startNatsCluster, startPostgresServer } from '@millrace/engines';
import { openRecorder } from '../../../server/src/deliver/settle/outcome-log.ts';
import { openLog } from '../../../server/src/log.ts';
import { migrateDatabase } from '../../../server/src/store/migrate-database.ts';
import { openStore, type Store } from '../../../server/src/store/open-store.ts';
import { openStream } from '../../../server/src/stream/open-stream.ts';
import { until } from '../../../server/testing/until.ts';
import { STREAM_SETTINGS } from '../../../server/testing/stream-settings.ts';
import { deliveredAtOnce } from './delivered-at-once.ts';
import { postgresCpuMs, readStat } from './processor-time.ts';

const RECORDER = fileURLToPath(new URL('../../../server/testing/recorder-child.ts', import.meta.url));
const PATIENCE_MS = 600_000;

/** Processes that record, and the streams that they read; `rows`: the share of plain successes that has a row. */
export type Recorders = { outcomeStreams: number; processes: number; rows: number };

/**
 * Recorders empty the streams that deliver has filled. NATS and PostgreSQL sync every write, as in production: set TMPDIR to a
 * disk. One stream is one transaction at a time, which is what the whole record was before it had several.
 */
export async function timeStreams({ outcomeStreams, processes, rows }: Recorders, deliveries: number) {
  await using opening = new AsyncDisposableStack();
  const nats = opening.use(await startNatsCluster({ maxFileStoreMb: 20_480 }));
  const postgres = opening.use(await startPostgresServer({ options: '-c fsync=on -c shared_buffers=512MB' }));
  await migrateDatabase(postgres.url);
  const store = opening.use(await openStore(postgres.serviceUrl));
  const bytesPerEntry = await fill(nats.url, outcomeStreams, deliveries);
  const args = [RECORDER, nats.url, postgres.serviceUrl, String(outcomeStreams), '', String(rows)];
  const recorders = Array.from({ length: processes }, () => spawn(process.execPath, args));
  for (const recorder of recorders) opening.use(disposable(recorder));
  await until(async () => (await countRecorded(store)) > 0, PATIENCE_MS);
  const from = { at: performance.now(), count: await countRecorded(store) };
  const nodeBefore = cpuMsOf(recorders);
  const postgresBefore = await postgresCpuMs({ store });
  await until(async () => (await countRecorded(store)) >= deliveries, PATIENCE_MS);
  const seconds = (performance.now() - from.at) / 1_000;
  const perSecond = Math.round((deliveries - from.count) / seconds);
  const micros = (ms: number) => Math.round((ms * 1_000) / (deliveries - from.count));
  const nodeMicros = micros(cpuMsOf(recorders) - nodeBefore);
  const postgresMicros = micros((await postgresCpuMs({ store })) - postgresBefore);
  const exact = (await countRecorded(store)) === deliveries;
  return { bytesPerEntry, perSecond, nodeMicros, postgresMicros, exact };
}

async function fill(natsUrl: string, outcomeStreams: number, deliveries: number): Promise<number> {
  await using opening = new AsyncDisposableStack();
  const log = openLog({ level: 'error', pretty: false });
  const settings = { ...STREAM_SETTINGS, outcomeStreams };
  const stream = opening.use(await openStream({ natsUrl, settings, log }));
  const { outcomes } = opening.use(await stream.deliverySide());
  let bytes = 0;
  const append: typeof outcomes.append = (batch, home) => {
    bytes += batch.length;
    return outcomes.append(batch, home);
  };
  using recorder = openRecorder({ outcomes: { ...outcomes, append }, log });
  for (let number = 0; number < deliveries; number += 2_000) {
    const some = Array.from({ length: Math.min(2_000, deliveries - number) }, (_, index) => number + index);
    await Promise.all(some.map((each) => recorder.record(deliveredAtOnce(each, Date.now()))));
  }
  return Math.round(bytes / deliveries);
}

async function countRecorded(store: Store): Promise<number> {
  const sql = 'SELECT coalesce(sum(count), 0)::int AS count FROM delivery_counts';
  const [row] = await store.asSystem((tx) => tx.query<{ count: number }>(sql));
  return row?.count ?? 0;
}

const cpuMsOf = (children: readonly ChildProcess[]): number =>
  children.flatMap(({ pid }) => readStat(String(pid))).reduce((sum, { ms }) => sum + ms, 0);

function disposable(child: ChildProcess): Disposable {
  return { [Symbol.dispose]: () => void child.kill('SIGKILL') };
}
