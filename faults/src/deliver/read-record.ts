import { startMigratedPostgres } from '../../../server/testing/migrated-postgres.ts';
import { readConfig } from '../../../server/src/config.ts';
import { startRecorders } from '../../../server/src/record/record-streams.ts';
import { openStore } from '../../../server/src/store/open-store.ts';
import { OUTCOMES_STREAM } from '../../../server/src/stream/layout/layout.ts';
import { openStream } from '../../../server/src/stream/open-stream.ts';
import { viewEngine } from '../engine-view.ts';
import { SILENT } from '../sources.ts';
import { waitUntil } from '../wait-until.ts';
import type { DeliverScene } from './open-deliver-scene.ts';
import type { RecordEvidence } from './judge-record.ts';

const RECORDED_WITHIN_MS = 60_000;

/** The record as written by a recorder that was stopped all the time and starts only now. */
export async function readRecord({ settings, cluster }: DeliverScene): Promise<RecordEvidence> {
  const read = readConfig(settings);
  if (!read.ok) throw new Error(read.problems.join('\n'));
  const { natsUrl, stream: streamSettings, control } = read.value;
  await using stack = new AsyncDisposableStack();
  const postgres = stack.use(await startMigratedPostgres());
  const store = stack.use(await openStore(postgres.serviceUrl));
  const stream = stack.use(await openStream({ natsUrl, settings: streamSettings, log: SILENT }));
  const side = stack.use(await stream.recordSide());
  stack.use(startRecorders({ store, side, settings: control.record, now: () => new Date(), log: SILENT }));
  const outcomes = viewEngine(cluster, [OUTCOMES_STREAM]);
  await waitUntil('everything is recorded', RECORDED_WITHIN_MS, async () => {
    return (await outcomes.isWhole()).get(OUTCOMES_STREAM) === 0;
  });
  const count = `SELECT outcome, sum(count)::int AS count FROM delivery_counts GROUP BY outcome`;
  const counts = await store.asSystem((tx) => tx.query<{ outcome: string; count: number }>(count));
  const rows = `SELECT message_id AS "messageId", destination_id AS "destinationId", state FROM deliveries`;
  const deliveries = await store.asSystem((tx) => tx.query<RecordEvidence['deliveries'][number]>(rows));
  return { deliveries, counts: new Map(counts.map(({ outcome, count: number }) => [outcome, number])) };
}
