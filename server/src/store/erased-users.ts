import type { Statement, Tx } from './open-store.ts';
import { type Page, readInOrder } from './rows.ts';

/** A user as the config bucket holds them. */
export type ProjectedUser = {
  workspace_id: string;
  id: string;
  marks: { sourceId: string; erasedBefore: string; suppressed: boolean }[];
};

export type Erasure = {
  workspaceId: string;
  userHashes: string[];
  /** A single empty id for all sources. */
  sourceIds: string[];
  erasedBefore: Date;
  suppressed: boolean;
};

/** Leaves the tombstones, in the transaction of the request. A later request never makes an earlier one weaker. */
export async function insertErasedUsers(tx: Tx, erasure: Erasure): Promise<void> {
  const { workspaceId, userHashes, sourceIds, erasedBefore, suppressed } = erasure;
  const sql = `INSERT INTO erased_users AS e (workspace_id, user_hash, source_id, erased_before, suppressed)
    SELECT $1, u, s, $4, $5 FROM unnest($2::text[]) u CROSS JOIN unnest($3::text[]) s
    ON CONFLICT (user_hash, source_id) DO UPDATE SET erased_before = greatest(e.erased_before, excluded.erased_before),
      suppressed = e.suppressed OR excluded.suppressed`;
  await tx.query(sql, [workspaceId, userHashes, sourceIds, erasedBefore, suppressed]);
  const outbox = `INSERT INTO outbox (workspace_id, kind, object_id) SELECT $1, 'user', u FROM unnest($2::text[]) u`;
  await tx.query(outbox, [workspaceId, userHashes]);
}

const USERS = `SELECT workspace_id, user_hash AS id, json_agg(json_build_object('sourceId', source_id,
    'erasedBefore', to_char(erased_before AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"'), 'suppressed', suppressed)
    ORDER BY source_id) AS marks
  FROM erased_users`;

export function usersToProject(tx: Tx, hashes: readonly string[]): Promise<ProjectedUser[]> {
  if (hashes.length === 0) return Promise.resolve([]);
  return tx.query(`${USERS} WHERE user_hash = ANY($1) GROUP BY workspace_id, user_hash`, [hashes]);
}

export async function pageOfUsers(tx: Tx, { limit, after }: Page): Promise<ProjectedUser[]> {
  await readInOrder(tx);
  const sql = `${USERS} WHERE user_hash > $1 GROUP BY workspace_id, user_hash ORDER BY user_hash LIMIT $2`;
  return tx.query(sql, [after ?? '', limit]);
}

/** Changes with every erasure and every suppression, in any workspace. */
export async function countErasures(tx: Tx): Promise<number> {
  const [row] = await tx.query<{ erasures: number }>(COUNT_ERASURES);
  return row?.erasures ?? 0;
}

const COUNT_ERASURES: Statement = {
  name: 'erasures-count',
  text: 'SELECT erasures::float8 AS erasures FROM compute_version',
};

/**
 * Changes with every erasure and every suppression of a workspace. Times only grow, so their sum tells each of them; the latest one would
 * not tell a second erasure of a user that is committed after one with a later time.
 */
export async function erasuresVersion(tx: Tx, workspaceId: string): Promise<string> {
  const sql = `SELECT count(*) || ' ' || count(*) FILTER (WHERE suppressed) || ' ' || coalesce(sum(extract(epoch FROM erased_before)), 0)
    AS version FROM erased_users WHERE workspace_id = $1`;
  const [row] = await tx.query<{ version: string }>(sql, [workspaceId]);
  return row?.version ?? '';
}

export function erasedUsersOf(tx: Tx, workspaceId: string): Promise<ProjectedUser[]> {
  return tx.query(`${USERS} WHERE workspace_id = $1 GROUP BY workspace_id, user_hash`, [workspaceId]);
}

/** When each of these users was last erased, in whatever source; in milliseconds. */
export async function lastErasures(tx: Tx, hashes: readonly string[]): Promise<Map<string, number>> {
  const sql = `SELECT user_hash AS hash, (extract(epoch FROM max(erased_before)) * 1000)::float8 AS at FROM erased_users
    WHERE user_hash = ANY($1) GROUP BY user_hash`;
  const rows = await tx.query<{ hash: string; at: number }>(sql, [hashes]);
  return new Map(rows.map(({ hash, at }) => [hash, at]));
}

/** Before when the events of these users are erased, by `hash source`; the source is empty where all are meant. */
export async function erasureMarks(tx: Tx, hashes: readonly string[]): Promise<Map<string, Date>> {
  const sql = 'SELECT user_hash, source_id, erased_before FROM erased_users WHERE user_hash = ANY($1)';
  const rows = await tx.query<{ user_hash: string; source_id: string; erased_before: Date }>(sql, [hashes]);
  return new Map(rows.map((row) => [`${row.user_hash} ${row.source_id}`, row.erased_before]));
}

export type Lifting = { workspaceId: string; userHash: string; sourceIds: string[] | undefined };

/** The sources in which a user is suppressed; an empty id is all of them. Locked until the transaction ends. */
export async function lockSuppressions(tx: Tx, workspaceId: string, userHash: string): Promise<string[]> {
  const sql = `SELECT source_id FROM erased_users WHERE workspace_id = $1 AND user_hash = $2 AND suppressed
    ORDER BY source_id FOR UPDATE`;
  const rows = await tx.query<{ source_id: string }>(sql, [workspaceId, userHash]);
  return rows.map((row) => row.source_id);
}

/** Calls of the user are accepted again. The tombstone stays: earlier events stay erased. */
export async function liftSuppressions(tx: Tx, { workspaceId, userHash, sourceIds }: Lifting): Promise<void> {
  const sql = `UPDATE erased_users SET suppressed = false
    WHERE workspace_id = $1 AND user_hash = $2 AND suppressed AND ($3::text[] IS NULL OR source_id = ANY($3))`;
  await tx.query(sql, [workspaceId, userHash, sourceIds ?? null]);
}
