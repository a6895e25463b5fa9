/** Workspaces that come to their end: asked for, undone, and the steps of their removal. */
import type { Tx } from './open-store.ts';
import { oneRow } from './rows.ts';

export type EndStep = 'waiting' | 'engine' | 'rows' | 'again' | 'last';
export type EndedNames = { sourceIds: string[]; destinationIds: string[] };
export type WorkspaceEnd = {
  workspace_id: string;
  asked_at: Date;
  ends_at: Date;
  step: EndStep;
  names: EndedNames | null;
};

const COLUMNS = 'workspace_id, asked_at, ends_at, step, names';

export function findWorkspaceEnd(tx: Tx, workspaceId: string): Promise<WorkspaceEnd | undefined> {
  return oneRow(tx, `SELECT ${COLUMNS} FROM workspace_ends WHERE workspace_id = $1`, [workspaceId]);
}

/** False when it was asked for before. */
export async function insertWorkspaceEnd(
  tx: Tx,
  { workspaceId, askedBy, endsAt }: { workspaceId: string; askedBy: string; endsAt: Date },
): Promise<boolean> {
  const sql = `INSERT INTO workspace_ends (workspace_id, asked_by, ends_at) VALUES ($1, $2, $3)
    ON CONFLICT DO NOTHING RETURNING workspace_id`;
  return (await oneRow(tx, sql, [workspaceId, askedBy, endsAt])) !== undefined;
}

/** False when there is none, or its removal has begun. Destinations that wait get their whole retry window again. */
export async function undoWorkspaceEnd(tx: Tx, workspaceId: string): Promise<boolean> {
  const sql = `DELETE FROM workspace_ends WHERE workspace_id = $1 AND step = 'waiting' RETURNING workspace_id`;
  if ((await oneRow(tx, sql, [workspaceId])) === undefined) return false;
  await tx.query('UPDATE destinations SET resumed_at = now() WHERE workspace_id = $1 AND paused_at IS NULL', [
    workspaceId,
  ]);
  return true;
}

/** Workspaces that have no end in sight. */
export async function countLasting(tx: Tx): Promise<number> {
  const sql = `SELECT count(*)::int AS count FROM workspaces w
    WHERE NOT EXISTS (SELECT FROM workspace_ends e WHERE e.workspace_id = w.id)`;
  return (await oneRow<{ count: number }>(tx, sql, []))?.count ?? 0;
}

/** Every source and destination is projected anew. */
export async function addWorkspaceToOutbox(tx: Tx, workspaceId: string): Promise<void> {
  const sql = `INSERT INTO outbox (workspace_id, kind, object_id)
    SELECT workspace_id, 'source', id FROM sources WHERE workspace_id = $1
    UNION ALL SELECT workspace_id, 'destination', id FROM destinations WHERE workspace_id = $1`;
  await tx.query(sql, [workspaceId]);
}

/** Claims one whose time is over, under a lease: one of a process that dies is taken by another one. */
export function claimEnded(tx: Tx, leaseMs: number): Promise<WorkspaceEnd | undefined> {
  const sql = `UPDATE workspace_ends SET leased_until = now() + $1 * interval '1 millisecond'
    WHERE workspace_id = (SELECT workspace_id FROM workspace_ends
      WHERE ends_at <= now() AND (leased_until IS NULL OR leased_until <= now())
      ORDER BY ends_at LIMIT 1 FOR UPDATE SKIP LOCKED)
    RETURNING ${COLUMNS}`;
  return oneRow(tx, sql, [leaseMs]);
}

export async function releaseEnded(tx: Tx, workspaceId: string): Promise<void> {
  await tx.query('UPDATE workspace_ends SET leased_until = NULL WHERE workspace_id = $1', [workspaceId]);
}

/**
 * From now on no member or token can act in the workspace, none comes in by single sign-on, and the names are known without their rows:
 * also those of sources and destinations that were deleted before, whose events and dead letters NATS keeps for weeks. False when
 * an owner has undone the end meanwhile: then nothing changes.
 */
export async function closeWorkspace(tx: Tx, workspaceId: string): Promise<boolean> {
  const ids = (table: string, ...actions: string[]) => `(SELECT coalesce(jsonb_agg(id), '[]') FROM (
      SELECT id FROM ${table} WHERE workspace_id = $1
      UNION SELECT object_id FROM audit_log WHERE workspace_id = $1 AND action IN ('${actions.join("', '")}')) AS named)`;
  const sql = `UPDATE workspace_ends SET step = 'engine',
      names = jsonb_build_object('sourceIds', ${ids('sources', 'source.created', 'source.deleted')},
        'destinationIds', ${ids('destinations', 'destination.created')})
    WHERE workspace_id = $1 AND step = 'waiting' AND ends_at <= now() RETURNING workspace_id`;
  if ((await oneRow(tx, sql, [workspaceId])) === undefined) return false;
  for (const table of ['members', 'tokens', 'invitations', 'sso_connections', 'audit_streams']) {
    await tx.query(`DELETE FROM ${table} WHERE workspace_id = $1`, [workspaceId]);
  }
  return true;
}

export async function setEndStep(tx: Tx, workspaceId: string, step: EndStep): Promise<void> {
  await tx.query('UPDATE workspace_ends SET step = $2 WHERE workspace_id = $1', [workspaceId, step]);
}

/** Whether the projector has still to take entries of the workspace out of the config bucket. */
export async function isProjectionWaiting(tx: Tx, workspaceId: string): Promise<boolean> {
  return (await oneRow(tx, 'SELECT 1 AS one FROM outbox WHERE workspace_id = $1 LIMIT 1', [workspaceId])) !== undefined;
}

/** The last of a workspace: its audit log, its row, and the note that it ends. */
export async function deleteWorkspace(tx: Tx, workspaceId: string): Promise<void> {
  await tx.query('SELECT remove_audit_log($1)', [workspaceId]);
  await tx.query('DELETE FROM audit_checks WHERE workspace_id = $1', [workspaceId]);
  await tx.query('DELETE FROM workspaces WHERE id = $1', [workspaceId]);
  await tx.query('DELETE FROM workspace_ends WHERE workspace_id = $1', [workspaceId]);
}
