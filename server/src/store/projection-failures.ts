/** Entries that the config bucket refused: the projector sets them aside and retries them, the API shows them. */
import type { Tx } from './open-store.ts';
import type { Projected } from './outbox.ts';

export type SetAside = Projected & { why: string };

/** Returns those that were not set aside before. */
export async function setAside(tx: Tx, failures: readonly SetAside[]): Promise<Set<string>> {
  if (failures.length === 0) return new Set();
  const sql = `INSERT INTO projection_failures AS f (workspace_id, kind, object_id, why)
    SELECT * FROM unnest($1::text[], $2::text[], $3::text[], $4::text[])
    ON CONFLICT (kind, object_id) DO UPDATE SET why = excluded.why, tried_at = now()
    RETURNING object_id, (xmax = 0) AS is_new`;
  const rows = await tx.query<{ object_id: string; is_new: boolean }>(sql, [
    failures.map((each) => each.workspaceId),
    failures.map((each) => each.kind),
    failures.map((each) => each.objectId),
    failures.map((each) => each.why),
  ]);
  return new Set(rows.filter((row) => row.is_new).map((row) => row.object_id));
}

/** Their entries are in the bucket now, or their rows are gone. Returns those that had been set aside. */
export async function clearFailures(tx: Tx, ids: readonly string[]): Promise<string[]> {
  const sql = 'DELETE FROM projection_failures WHERE object_id = ANY($1) RETURNING object_id';
  return (await tx.query<{ object_id: string }>(sql, [ids])).map((row) => row.object_id);
}

/** Puts those that were not tried for some seconds back into the outbox, behind all changes. */
export async function retryFailures(tx: Tx, { afterSeconds, limit }: { afterSeconds: number; limit: number }) {
  const sql = `WITH due AS (
      UPDATE projection_failures SET tried_at = now() WHERE (kind, object_id) IN (
        SELECT kind, object_id FROM projection_failures WHERE tried_at < now() - make_interval(secs => $1)
        ORDER BY tried_at LIMIT $2)
      RETURNING workspace_id, kind, object_id)
    INSERT INTO outbox (workspace_id, kind, object_id, is_repair) SELECT *, true FROM due`;
  await tx.query(sql, [afterSeconds, limit]);
}

export type ProjectionLag = { failures: number; oldestSeconds: number };

/** How many entries are set aside, and how long the oldest change has been waiting. */
export async function projectionLag(tx: Tx): Promise<ProjectionLag> {
  const sql = `SELECT (SELECT count(*)::int FROM projection_failures) AS failures, coalesce((SELECT
    extract(epoch FROM clock_timestamp() - created_at) FROM outbox WHERE NOT is_repair ORDER BY id LIMIT 1), 0)::float
    AS "oldestSeconds"`;
  const [row] = await tx.query<ProjectionLag>(sql);
  return row ?? { failures: 0, oldestSeconds: 0 };
}

export type ProjectionRow = { object_id: string; since: Date; why: string | null };

/** Of these objects, those whose last change is not in the bucket: with the reason where it was refused. */
export async function unprojected(tx: Tx, workspaceId: string, ids: readonly string[]): Promise<ProjectionRow[]> {
  if (ids.length === 0) return [];
  const sql = `SELECT object_id, since, why FROM projection_failures WHERE workspace_id = $1 AND object_id = ANY($2)
    UNION ALL SELECT object_id, min(created_at), NULL FROM outbox
      WHERE workspace_id = $1 AND object_id = ANY($2) AND NOT is_repair GROUP BY object_id`;
  return tx.query(sql, [workspaceId, ids]);
}
