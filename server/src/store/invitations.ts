import type { Tx } from './open-store.ts';
import { oneRow, type Page } from './rows.ts';

export type InvitationRow = {
  workspace_id: string;
  id: string;
  email: string;
  role: string;
  created_by: string;
  created_at: Date;
  expires_at: Date;
};

export type NewInvitation = {
  workspaceId: string;
  id: string;
  email: string;
  role: string;
  secretHash: Buffer;
  createdBy: string;
  expiresAt: Date;
};

const COLUMNS = 'workspace_id, id, email, role, created_by, created_at, expires_at';

/** A new invitation of the same address replaces the previous one, whose link stops working. */
export function insertInvitation(tx: Tx, invitation: NewInvitation): Promise<InvitationRow | undefined> {
  const { workspaceId, id, email, role, secretHash, createdBy, expiresAt } = invitation;
  const sql = `INSERT INTO invitations (workspace_id, id, email, role, secret_hash, created_by, expires_at)
    VALUES ($1, $2, $3, $4, $5, $6, $7)
    ON CONFLICT (workspace_id, lower(email)) DO UPDATE SET id = excluded.id, email = excluded.email, role = excluded.role,
      secret_hash = excluded.secret_hash, created_by = excluded.created_by, created_at = now(),
      expires_at = excluded.expires_at
    RETURNING ${COLUMNS}`;
  return oneRow(tx, sql, [workspaceId, id, email, role, secretHash, createdBy, expiresAt]);
}

/** An invitation that can still be accepted, locked until this transaction ends. */
export function lockInvitationOf(tx: Tx, workspaceId: string, email: string): Promise<InvitationRow | undefined> {
  const sql = `SELECT ${COLUMNS} FROM invitations
    WHERE workspace_id = $1 AND lower(email) = lower($2) AND expires_at > now() FOR UPDATE`;
  return oneRow(tx, sql, [workspaceId, email]);
}

export function findInvitation(tx: Tx, secretHash: Buffer): Promise<InvitationRow | undefined> {
  return oneRow(tx, `SELECT ${COLUMNS} FROM invitations WHERE secret_hash = $1 AND expires_at > now()`, [secretHash]);
}

/** Of two concurrent uses of the same link, one succeeds. */
export function takeInvitation(tx: Tx, secretHash: Buffer): Promise<InvitationRow | undefined> {
  const sql = `DELETE FROM invitations WHERE secret_hash = $1 AND expires_at > now() RETURNING ${COLUMNS}`;
  return oneRow(tx, sql, [secretHash]);
}

export function listInvitations(tx: Tx, workspaceId: string, { limit, after }: Page): Promise<InvitationRow[]> {
  const sql = `SELECT ${COLUMNS} FROM invitations
    WHERE workspace_id = $1 AND expires_at > now() AND id > $2 ORDER BY id LIMIT $3`;
  return tx.query(sql, [workspaceId, after ?? '', limit]);
}

export async function countInvitations(tx: Tx, workspaceId: string): Promise<number> {
  const sql = 'SELECT count(*)::int AS count FROM invitations WHERE workspace_id = $1 AND expires_at > now()';
  return (await oneRow<{ count: number }>(tx, sql, [workspaceId]))?.count ?? 0;
}

export function deleteInvitation(tx: Tx, workspaceId: string, id: string): Promise<InvitationRow | undefined> {
  const sql = `DELETE FROM invitations WHERE workspace_id = $1 AND id = $2 RETURNING ${COLUMNS}`;
  return oneRow(tx, sql, [workspaceId, id]);
}

export async function deleteEndedInvitations(tx: Tx): Promise<void> {
  await tx.query('DELETE FROM invitations WHERE expires_at < now()');
}
