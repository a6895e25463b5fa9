import type { Tx } from './open-store.ts';

/** A refused call, as much of it as helps to find the mistake. */
export type RefusalSample = { at: string; messageId?: string; message: string; call?: string };

export type RefusalRow = {
  source_id: string;
  code: string;
  day: string;
  count: string;
  last_at: Date;
  samples: RefusalSample[];
};

export type RefusalCount = {
  workspaceId: string;
  sourceId: string;
  code: string;
  day: string;
  count: number;
  at: string;
  /** Newest first. */
  samples: RefusalSample[];
};

/** Enough to find a mistake in one's own calls. */
export const MAX_SAMPLES = 20;

export async function addRefusals(tx: Tx, refusals: RefusalCount): Promise<void> {
  const sql = `INSERT INTO refusals (workspace_id, source_id, code, day, count, last_at, samples)
    VALUES ($1, $2, $3, $4, $5, $6, $7)
    ON CONFLICT (workspace_id, source_id, code, day) DO UPDATE SET
      count = refusals.count + excluded.count,
      last_at = greatest(refusals.last_at, excluded.last_at),
      samples = jsonb_path_query_array(excluded.samples || refusals.samples, '$[0 to ${MAX_SAMPLES - 1}]')`;
  const { workspaceId, sourceId, code, day, count, at, samples } = refusals;
  await tx.query(sql, [workspaceId, sourceId, code, day, count, at, JSON.stringify(samples)]);
}

const COLUMNS = 'source_id, code, day::text, count, last_at, samples';

export function refusalsOfMessage(tx: Tx, workspaceId: string, messageId: string): Promise<RefusalRow[]> {
  const sql = `SELECT ${COLUMNS} FROM refusals WHERE workspace_id = $1 AND samples @> $2 ORDER BY last_at DESC LIMIT 10`;
  return tx.query(sql, [workspaceId, JSON.stringify([{ messageId }])]);
}

export function refusalsOfSource(
  tx: Tx,
  { workspaceId, sourceId }: { workspaceId: string; sourceId: string },
  fromDay: string,
): Promise<RefusalRow[]> {
  const sql = `SELECT ${COLUMNS} FROM refusals WHERE workspace_id = $1 AND source_id = $2 AND day >= $3
    ORDER BY day DESC, code LIMIT 500`;
  return tx.query(sql, [workspaceId, sourceId, fromDay]);
}

/** Samples hold users' data, so they have the retention of records; counts have that of the other counts. */
export async function forgetOldRefusals(
  tx: Tx,
  { recordsFrom, countsFrom }: { recordsFrom: string; countsFrom: string },
) {
  await tx.query(`UPDATE refusals SET samples = '[]' WHERE day < $1 AND samples <> '[]'`, [recordsFrom]);
  await tx.query('DELETE FROM refusals WHERE day < $1', [countsFrom]);
}

export type RecentRefusals = {
  source_id: string;
  name: string;
  code: string;
  count: string;
  last_at: Date;
  message: string | null;
};

/** Reasons for which a source had at least so many calls refused today or yesterday, the last of them not long ago. */
export function recentRefusals(
  tx: Tx,
  workspaceId: string,
  { since, fewest, most }: { since: Date; fewest: number; most: number },
): Promise<RecentRefusals[]> {
  const sql = `SELECT r.source_id, s.name, r.code, r.count, r.last_at, r.samples->0->>'message' AS message
    FROM (SELECT * FROM refusals WHERE workspace_id = $1 AND last_at >= $2 ORDER BY last_at DESC LIMIT 1000) AS r
      JOIN sources s ON s.workspace_id = $1 AND s.id = r.source_id
    WHERE r.count >= $3 ORDER BY r.count DESC, r.source_id LIMIT $4`;
  return tx.query(sql, [workspaceId, since, fewest, most]);
}
