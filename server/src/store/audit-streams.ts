import type { Tx } from './open-store.ts';
import { oneRow } from './rows.ts';

export type AuditStreamRow = {
  workspace_id: string;
  /** Another one each time that the stream is set. */
  id: string;
  url: string;
  secret_sealed: Buffer;
  position: string;
  failures: number;
  next_at: Date;
  last_error: string | null;
  delivered_at: Date | null;
  created_at: Date;
};

const COLUMNS =
  'workspace_id, id, url, secret_sealed, position, failures, next_at, last_error, delivered_at, created_at';

export type NewAuditStream = { workspaceId: string; id: string; url: string; secretSealed: Buffer; position: number };

/** Replaces the one before. */
export async function setAuditStream(tx: Tx, stream: NewAuditStream): Promise<void> {
  const { workspaceId, id, url, secretSealed, position } = stream;
  await tx.query('DELETE FROM audit_streams WHERE workspace_id = $1', [workspaceId]);
  const sql = `INSERT INTO audit_streams (workspace_id, id, url, secret_sealed, position) VALUES ($1, $2, $3, $4, $5)`;
  await tx.query(sql, [workspaceId, id, url, secretSealed, position]);
}

export function findAuditStream(tx: Tx, workspaceId: string): Promise<AuditStreamRow | undefined> {
  return oneRow(tx, `SELECT ${COLUMNS} FROM audit_streams WHERE workspace_id = $1`, [workspaceId]);
}

export async function deleteAuditStream(tx: Tx, workspaceId: string): Promise<boolean> {
  const sql = 'DELETE FROM audit_streams WHERE workspace_id = $1 RETURNING id';
  return (await oneRow(tx, sql, [workspaceId])) !== undefined;
}

const IS_DUE = `s.next_at <= now()
        AND EXISTS (SELECT FROM audit_log a WHERE a.workspace_id = s.workspace_id AND a.sequence > s.position)`;

/** Whether entries wait to be sent. */
export const AUDIT_WAITS = `EXISTS (SELECT FROM audit_streams s WHERE ${IS_DUE})`;

/** Claims streams that are due and whose log has more entries, each under a lease: a process that dies leaves it to another one. */
export function claimAuditStreams(tx: Tx, { limit, leaseMs }: { limit: number; leaseMs: number }) {
  const sql = `UPDATE audit_streams SET next_at = now() + $2 * interval '1 millisecond'
    WHERE workspace_id IN (
      SELECT s.workspace_id FROM audit_streams s WHERE ${IS_DUE}
      ORDER BY s.next_at LIMIT $1 FOR UPDATE SKIP LOCKED)
    RETURNING ${COLUMNS}`;
  return tx.query<AuditStreamRow>(sql, [limit, leaseMs]);
}

type Claimed = Pick<AuditStreamRow, 'workspace_id' | 'id' | 'position'>;

/** Moves the position, unless the stream was set anew meanwhile or another process has moved it. */
export async function advanceAuditStream(tx: Tx, claimed: Claimed, position: number): Promise<void> {
  const sql = `UPDATE audit_streams SET position = $4, failures = 0, last_error = NULL, delivered_at = now(), next_at = now()
    WHERE workspace_id = $1 AND id = $2 AND position = $3`;
  await tx.query(sql, [claimed.workspace_id, claimed.id, claimed.position, position]);
}

export async function delayAuditStream(
  tx: Tx,
  claimed: Claimed,
  { afterMs, why }: { afterMs: number; why: string },
): Promise<void> {
  const sql = `UPDATE audit_streams SET failures = failures + 1, last_error = $4,
      next_at = now() + $5 * interval '1 millisecond'
    WHERE workspace_id = $1 AND id = $2 AND position = $3`;
  await tx.query(sql, [claimed.workspace_id, claimed.id, claimed.position, why, afterMs]);
}

export async function countFailingAuditStreams(tx: Tx): Promise<number> {
  const sql = 'SELECT count(*)::int AS count FROM audit_streams WHERE failures > 0';
  return (await oneRow<{ count: number }>(tx, sql, []))?.count ?? 0;
}
