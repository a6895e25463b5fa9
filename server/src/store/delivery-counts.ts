import type { Tx } from './open-store.ts';

export type CountRow = {
  workspace_id: string;
  destination_id: string;
  minute: Date;
  outcome: string;
  error_class: string;
  count: number;
};

const NAMES = 'workspace_id, destination_id, minute, outcome, error_class, count';

/** Sorted, so that two writers cannot deadlock. */
export async function addCounts(tx: Tx, rows: readonly CountRow[]): Promise<void> {
  const sql = `INSERT INTO delivery_counts (${NAMES})
    SELECT ${NAMES} FROM json_to_recordset($1)
      AS given (workspace_id text, destination_id text, minute timestamptz, outcome text, error_class text, count bigint)
    ORDER BY destination_id, minute, outcome, error_class
    ON CONFLICT (destination_id, minute, outcome, error_class) DO UPDATE
      SET count = delivery_counts.count + excluded.count`;
  if (rows.length > 0) await tx.query(sql, [JSON.stringify(rows)]);
}

export type CountQuery = {
  workspaceId: string;
  destinationId: string | undefined;
  from: Date;
  to: Date;
  /** The length of the intervals that counts are summed over. */
  stepSeconds: number;
};

export type CountSum = { at: Date; outcome: string; error_class: string; count: string };

/** Steps begin at whole multiples of their length since 1970. */
export function sumCounts(
  tx: Tx,
  { workspaceId, destinationId, from, to, stepSeconds }: CountQuery,
): Promise<CountSum[]> {
  const sql = `SELECT date_bin(make_interval(secs => $5), minute, 'epoch') AS at, outcome, error_class, sum(count) AS count
    FROM delivery_counts
    WHERE workspace_id = $1 AND ($2::text IS NULL OR destination_id = $2) AND minute >= $3 AND minute < $4
    GROUP BY 1, 2, 3 ORDER BY 1, 2, 3`;
  return tx.query(sql, [workspaceId, destinationId ?? null, from, to, stepSeconds]);
}
