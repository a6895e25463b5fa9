/** Every row of one workspace, in whichever table, a portion at a time. Tables of later migrations are found by their columns. */
import type { Tx } from './open-store.ts';

type TableOf = { name: string; is_partitioned: boolean; by: 'workspace_id' | 'profile_key' };

/**
 * These end with the workspace itself; the outbox is emptied by the projector. Plain deliveries hold nothing but ids and times, have no
 * index by workspace, and go with their day.
 */
const KEPT = ['audit_log', 'workspace_ends', 'audit_checks', 'outbox', 'plain_deliveries'];
/** Their rows are parents of others, which are many: those go first. */
const LAST = ['definitions', 'sources', 'erased_users'];

/** The tables that hold rows of workspaces, those first whose rows are children of others. */
export async function tablesOfWorkspaces(tx: Tx): Promise<TableOf[]> {
  const sql = `SELECT c.relname AS name, c.relkind = 'p' AS is_partitioned, min(a.attname) FILTER (WHERE a.attname = 'workspace_id')
      IS NULL AS by_key
    FROM pg_class c JOIN pg_class ours ON ours.oid = 'audit_log'::regclass AND c.relnamespace = ours.relnamespace
      JOIN pg_attribute a ON a.attrelid = c.oid AND a.attname IN ('workspace_id', 'profile_key') AND NOT a.attisdropped
    WHERE c.relkind IN ('r', 'p') AND NOT c.relispartition AND c.relname <> ALL ($1)
    GROUP BY c.oid, c.relname, c.relkind ORDER BY array_position($2, c.relname::text) NULLS FIRST, c.relname`;
  const rows = await tx.query<{ name: string; is_partitioned: boolean; by_key: boolean }>(sql, [KEPT, LAST]);
  return rows.map(({ name, is_partitioned, by_key }) => ({
    name,
    is_partitioned,
    by: by_key ? 'profile_key' : 'workspace_id',
  }));
}

/** Takes up to `most` rows out of a table, in a transaction that sees the workspace alone; answers how many. */
export async function deleteRows(tx: Tx, table: TableOf, workspaceId: string, most: number): Promise<number> {
  const own =
    table.by === 'workspace_id'
      ? 'workspace_id = $1'
      : "$1 <> '' AND profile_key BETWEEN first_profile_key() AND last_profile_key()";
  const some = `FROM ${table.name} WHERE ${own} LIMIT $2`;
  // A row's place is unique in its partition only.
  const places = table.is_partitioned
    ? `(tableoid, ctid) IN (SELECT tableoid, ctid ${some})`
    : `ctid = ANY (ARRAY(SELECT ctid ${some}))`;
  const sql = `WITH gone AS (DELETE FROM ${table.name} WHERE ${own} AND ${places} RETURNING 1)
    SELECT count(*)::int AS count FROM gone`;
  const [row] = await tx.query<{ count: number }>(sql, [workspaceId, most]);
  return row?.count ?? 0;
}

/** Sources, destinations and marks of users have entries in the config bucket: the projector takes those out. */
export async function tellBucketOfEnd(tx: Tx, workspaceId: string): Promise<void> {
  const sql = `INSERT INTO outbox (workspace_id, kind, object_id)
    SELECT workspace_id, 'source', id FROM sources WHERE workspace_id = $1
    UNION ALL SELECT workspace_id, 'destination', id FROM destinations WHERE workspace_id = $1
    UNION ALL SELECT DISTINCT workspace_id, 'user', user_hash FROM erased_users WHERE workspace_id = $1`;
  await tx.query(sql, [workspaceId]);
}
