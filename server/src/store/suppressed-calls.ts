import type { Tx } from './open-store.ts';

export type SuppressedCount = { workspaceId: string; sourceId: string; day: string; process: string; count: number };

/** A count may arrive twice, and an older one late: the highest stays. */
export async function noteSuppressed(
  tx: Tx,
  { workspaceId, sourceId, day, process, count }: SuppressedCount,
): Promise<void> {
  const sql = `INSERT INTO suppressed_calls AS c (workspace_id, source_id, day, process, count) VALUES ($1, $2, $3, $4, $5)
    ON CONFLICT (workspace_id, source_id, day, process) DO UPDATE SET count = greatest(c.count, excluded.count)`;
  await tx.query(sql, [workspaceId, sourceId, day, process, count]);
}

export type SuppressedDay = { source_id: string; day: string; calls: string };

/** Of a month, by its first day; the newest day first. */
export function suppressedOfMonth(tx: Tx, workspaceId: string, month: string): Promise<SuppressedDay[]> {
  const sql = `SELECT source_id, day::text, sum(count)::text AS calls FROM suppressed_calls
    WHERE workspace_id = $1 AND day >= $2::date AND day < $2::date + interval '1 month'
    GROUP BY source_id, day ORDER BY day DESC, source_id`;
  return tx.query(sql, [workspaceId, month]);
}
