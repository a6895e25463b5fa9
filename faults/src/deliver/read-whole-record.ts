import type { Store, Tx } from '../../../server/src/store/open-store.ts';
import { viewEngine } from '../engine-view.ts';
import { waitUntil } from '../wait-until.ts';
import type { RecorderScene } from './open-recorder-scene.ts';
import type { WholeRecord } from './judge-whole-record.ts';

const RECORDED_WITHIN_MS = 120_000;

/** The record in PostgreSQL when the recorder has nothing left to do. */
export async function readWholeRecord({
  scene,
  store,
  entered,
  events,
  outcomes,
}: RecorderScene): Promise<WholeRecord> {
  const engine = viewEngine(scene.cluster, [...events, ...outcomes]);
  await waitUntil('everything is recorded', RECORDED_WITHIN_MS, async () => {
    const held = await engine.messages();
    return outcomes.every((stream) => held.get(stream) === 0) && isCounted(events, held, await positionsOf(store));
  });
  const deliveries: WholeRecord['deliveries'][number][] = [];
  for (const [id, destinationId] of entered.destinations) {
    const sql = 'SELECT message_id AS "messageId", state FROM deliveries WHERE destination_id = $1';
    const rows = await ask<{ messageId: string; state: string }>(store, sql, [id]);
    for (const row of rows) deliveries.push({ ...row, destinationId });
  }
  const counts = 'SELECT outcome AS name, sum(count)::int AS count FROM delivery_counts GROUP BY 1';
  const usage = 'SELECT source_id AS name, sum(calls)::int AS count FROM usage GROUP BY 1';
  const [attempts] = await ask<Attempts>(store, ATTEMPTS);
  return {
    deliveries,
    counts: new Map((await ask<Count>(store, counts)).map(({ name, count }) => [name, count])),
    attempts: attempts?.count ?? 0,
    unanswered: attempts?.unanswered ?? 0,
    usage: new Map(
      (await ask<Count>(store, usage)).map(({ name, count }) => [entered.sources.get(name) ?? name, count]),
    ),
  };
}

type Count = { name: string; count: number };
type Attempts = { count: number; unanswered: number };

const ATTEMPTS = `SELECT count(*)::int AS count,
  (count(*) FILTER (WHERE answers -> 0 -> 'status' IS NULL))::int AS unanswered FROM attempts`;

async function positionsOf(store: Store): Promise<ReadonlyMap<string, number>> {
  const rows = await ask<Count>(store, 'SELECT stream AS name, sequence::int AS count FROM usage_positions');
  return new Map(rows.map(({ name, count }) => [name, count]));
}

/** Nothing leaves an event stream during a run, so the last sequence is the number of messages. */
function isCounted(
  events: readonly string[],
  held: ReadonlyMap<string, number>,
  counted: ReadonlyMap<string, number>,
): boolean {
  return events.every((stream) => (counted.get(stream) ?? 0) === held.get(stream));
}

function ask<Row extends Record<string, unknown>>(store: Store, sql: string, values: readonly unknown[] = []) {
  return store.asSystem((tx: Tx) => tx.query<Row>(sql, values));
}
