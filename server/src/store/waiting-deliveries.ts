/** The deliveries that have waited longest, found by index: nothing else of the record is read. */
import type { Tx } from './open-store.ts';
import { readInOrder } from './rows.ts';

export type WaitingRow = {
  id: string;
  destination_id: string;
  received_at: Date;
  first_attempt_at: Date | null;
  replay_id: string | null;
};

const COLUMNS = 'id, destination_id, received_at, first_attempt_at, replay_id';
const STATES = ['pending', 'retrying'] as const;

/** `state <> 'delivered'` is said again as a literal: PostgreSQL takes a partial index only if it can see that it fits. */
const oldestOf = (where: string) =>
  STATES.map(
    (state) => `(SELECT ${COLUMNS} FROM deliveries WHERE ${where} AND state = '${state}' AND state <> 'delivered'
      ORDER BY received_at LIMIT 1)`,
  ).join(' UNION ALL ');

export async function oldestWaiting(tx: Tx, workspaceId: string): Promise<WaitingRow | undefined> {
  await readInOrder(tx);
  const sql = `SELECT * FROM (${oldestOf('workspace_id = $1')}) AS oldest ORDER BY received_at LIMIT 1`;
  const [row] = await tx.query<WaitingRow>(sql, [workspaceId]);
  return row;
}

/** The oldest of each of a few destinations. */
export async function oldestWaitingOf(
  tx: Tx,
  workspaceId: string,
  destinationIds: readonly string[],
): Promise<Map<string, WaitingRow>> {
  if (destinationIds.length === 0) return new Map();
  await readInOrder(tx);
  const sql = `SELECT oldest.* FROM unnest($2::text[]) AS wanted (destination_id), LATERAL (SELECT * FROM (
      ${oldestOf('workspace_id = $1 AND destination_id = wanted.destination_id')}) AS each ORDER BY received_at LIMIT 1) AS oldest`;
  const rows = await tx.query<WaitingRow>(sql, [workspaceId, destinationIds]);
  return new Map(rows.map((row) => [row.destination_id, row]));
}

type Waiting = { workspace_id: string; id: string; destination_id: string; next_at: Date | null; received_at: Date };

/** How many waiting deliveries of its destination are due before this one, among the `most` that came in first. */
export async function countAhead(
  tx: Tx,
  { workspace_id, id, destination_id, next_at, received_at }: Waiting,
  most: number,
): Promise<{ ahead: number; isAheadExact: boolean }> {
  await readInOrder(tx);
  const first = STATES.map(
    (state) => `(SELECT id, coalesce(next_at, received_at) AS due_at FROM deliveries
      WHERE workspace_id = $1 AND destination_id = $2 AND state = '${state}' AND state <> 'delivered'
      ORDER BY received_at LIMIT $5)`,
  ).join(' UNION ALL ');
  const sql = `SELECT count(*) FILTER (WHERE due_at < $4 AND id <> $3)::integer AS ahead, count(*)::integer AS counted
    FROM (${first}) AS waiting`;
  const [row] = await tx.query<{ ahead: number; counted: number }>(sql, [
    workspace_id,
    destination_id,
    id,
    next_at ?? received_at,
    most,
  ]);
  return { ahead: row?.ahead ?? 0, isAheadExact: (row?.counted ?? 0) < most };
}
