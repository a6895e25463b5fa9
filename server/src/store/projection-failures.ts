/** Entries that the config bucket refused: the projector sets them aside and retries them, the API shows them. */
import { MAIN_CELL } from '../domain/configuration.ts';
import type { Tx } from './open-store.ts';
import type { Projected } from './outbox.ts';

export type SetAside = Projected & { why: string };

/** Returns those that the bucket of this cell had not refused before. */
export async function setAside(tx: Tx, failures: readonly SetAside[], cell = MAIN_CELL): Promise<Set<string>> {
  if (failures.length === 0) return new Set();
  const sql = `INSERT INTO projection_failures AS f (workspace_id, kind, object_id, why, cell)
    SELECT *, $5 FROM unnest($1::text[], $2::text[], $3::text[], $4::text[])
    ON CONFLICT (kind, object_id, cell) DO UPDATE SET why = excluded.why, tried_at = now()
    RETURNING object_id, (xmax = 0) AS is_new`;
  const rows = await tx.query<{ object_id: string; is_new: boolean }>(sql, [
    failures.map((each) => each.workspaceId),
    failures.map((each) => each.kind),
    failures.map((each) => each.objectId),
    failures.map((each) => each.why),
    cell,
  ]);
  return new Set(rows.filter((row) => row.is_new).map((row) => row.object_id));
}

/** Their entries are in the bucket now, or their rows are gone. Returns those that had been set aside. */
export async function clearFailures(tx: Tx, ids: readonly string[], cell = MAIN_CELL): Promise<string[]> {
  const sql = 'DELETE FROM projection_failures WHERE object_id = ANY($1) AND cell = $2 RETURNING object_id';
  return (await tx.query<{ object_id: string }>(sql, [ids, cell])).map((row) => row.object_id);
}

/** Puts those that were not tried for some seconds back into the outbox of their cell, behind all changes. */
export async function retryFailures(tx: Tx, { afterSeconds, limit }: { afterSeconds: number; limit: number }) {
  const sql = `WITH due AS (
      UPDATE projection_failures SET tried_at = now() WHERE (kind, object_id, cell) IN (
        SELECT kind, object_id, cell FROM projection_failures WHERE tried_at < now() - make_interval(secs => $1)
        ORDER BY tried_at LIMIT $2)
      RETURNING workspace_id, kind, object_id, cell)
    INSERT INTO outbox (workspace_id, kind, object_id, cell, is_repair) SELECT *, true FROM due`;
  await tx.query(sql, [afterSeconds, limit]);
}

export type ProjectionLag = { cell: string; failures: number; oldestSeconds: number };

/** Of each cell: how many entries are set aside, and how long the oldest change has been waiting. */
export function projectionLag(tx: Tx): Promise<ProjectionLag[]> {
  const sql = `SELECT c.name AS cell, (SELECT count(*)::int FROM projection_failures f WHERE f.cell = c.name) AS failures,
      coalesce((SELECT extract(epoch FROM clock_timestamp() - created_at) FROM outbox o
        WHERE o.cell = c.name AND NOT is_repair ORDER BY id LIMIT 1), 0)::float AS "oldestSeconds"
    FROM cells c ORDER BY c.name`;
  return tx.query(sql);
}

export type ProjectionRow = { object_id: string; since: Date; why: string | null };

/** Of these objects, those whose last change is not in the bucket of every cell: with the reason where it was refused. */
export async function unprojected(tx: Tx, workspaceId: string, ids: readonly string[]): Promise<ProjectionRow[]> {
  if (ids.length === 0) return [];
  const sql = `SELECT object_id, since, CASE cell WHEN '${MAIN_CELL}' THEN why ELSE 'in the cell ' || cell || ': ' || why END AS why
      FROM projection_failures WHERE workspace_id = $1 AND object_id = ANY($2)
    UNION ALL SELECT object_id, min(created_at), NULL FROM outbox
      WHERE workspace_id = $1 AND object_id = ANY($2) AND NOT is_repair GROUP BY object_id`;
  return tx.query(sql, [workspaceId, ids]);
}

type Unwritten = { sourceIds: readonly string[]; tried: readonly string[]; cell: string };

/** Destinations of these sources that the bucket of a cell may not have: those that were tried just now, and those that it refused before. */
export function unwrittenDestinations(
  tx: Tx,
  { sourceIds, tried, cell }: Unwritten,
): Promise<{ id: string; source_id: string }[]> {
  const sql = `SELECT d.id, d.source_id FROM destinations d WHERE d.source_id = ANY($1) AND (d.id = ANY($2) OR EXISTS (
      SELECT FROM projection_failures f WHERE f.kind = 'destination' AND f.object_id = d.id AND f.cell = $3))
    ORDER BY d.id`;
  return tx.query(sql, [sourceIds, tried, cell]);
}
