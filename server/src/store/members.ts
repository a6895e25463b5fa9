import type { Tx } from './open-store.ts';
import { oneRow } from './rows.ts';
import { HAS_FACTOR } from './second-factors.ts';

export type MemberRow = {
  workspace_id: string;
  user_id: string;
  email: string;
  name: string;
  role: string;
  created_at: Date;
  has_second_factor: boolean;
  /** The workspace demands one. */
  needs_second_factor: boolean;
  /** Reaches the workspace with the password although single sign-on is required. */
  break_glass: boolean;
  /** Whether the account is one that the connection of the workspace made. */
  is_managed: boolean;
  has_password: boolean;
  /** The workspace demands single sign-on. */
  requires_sso: boolean;
};

const SELECT = `SELECT m.workspace_id, m.user_id, u.email, u.name, m.role, m.created_at,
    w.needs_second_factor, ${HAS_FACTOR} AS has_second_factor,
    m.break_glass, u.belongs_to IS NOT NULL AS is_managed, u.password_hash IS NOT NULL AS has_password,
    coalesce(c.required, false) AS requires_sso
  FROM members m JOIN users u ON u.id = m.user_id JOIN workspaces w ON w.id = m.workspace_id
    LEFT JOIN sso_connections c ON c.workspace_id = m.workspace_id`;

export type NewMember = { workspaceId: string; userId: string; role: string };

export async function insertMember(tx: Tx, { workspaceId, userId, role }: NewMember): Promise<void> {
  // Changes the row, so that a concurrent removal of accounts without a workspace looks at it again.
  await tx.query('UPDATE users SET memberless_since = NULL WHERE id = $1', [userId]);
  await tx.query('INSERT INTO members (workspace_id, user_id, role) VALUES ($1, $2, $3)', [workspaceId, userId, role]);
}

export function listMembers(tx: Tx, workspaceId: string): Promise<MemberRow[]> {
  return tx.query(`${SELECT} WHERE m.workspace_id = $1 ORDER BY m.created_at, m.user_id`, [workspaceId]);
}

export function findMember(tx: Tx, { workspaceId, userId }: Omit<NewMember, 'role'>): Promise<MemberRow | undefined> {
  return oneRow(tx, `${SELECT} WHERE m.workspace_id = $1 AND m.user_id = $2`, [workspaceId, userId]);
}

/** The workspaces of a user. */
export function membershipsOf(tx: Tx, userId: string): Promise<MemberRow[]> {
  return tx.query(`${SELECT} WHERE m.user_id = $1 ORDER BY m.created_at, m.workspace_id`, [userId]);
}

export async function setMemberRole(tx: Tx, { workspaceId, userId, role }: NewMember): Promise<void> {
  const sql = `UPDATE members SET role = $3, break_glass = break_glass AND $3 = 'owner'
    WHERE workspace_id = $1 AND user_id = $2`;
  await tx.query(sql, [workspaceId, userId, role]);
}

export async function deleteMember(tx: Tx, { workspaceId, userId }: Omit<NewMember, 'role'>): Promise<void> {
  await tx.query('DELETE FROM members WHERE workspace_id = $1 AND user_id = $2', [workspaceId, userId]);
}

/** Locks the owners' rows, so that two owners cannot remove each other at the same moment. */
export async function countOwners(tx: Tx, workspaceId: string): Promise<number> {
  const sql = `SELECT user_id FROM members WHERE workspace_id = $1 AND role = 'owner' FOR UPDATE`;
  return (await tx.query(sql, [workspaceId])).length;
}

/**
 * The owners that the workspace has without this one; where single sign-on is required, those that reach it without the provider. Locks
 * the owners' rows as `countOwners` does.
 */
export async function countOtherOwners(tx: Tx, { workspaceId, userId }: Omit<NewMember, 'role'>): Promise<number> {
  const sql = `SELECT user_id, break_glass FROM members WHERE workspace_id = $1 AND role = 'owner' FOR UPDATE`;
  const owners = await tx.query<{ user_id: string; break_glass: boolean }>(sql, [workspaceId]);
  const required = await tx.query('SELECT 1 AS one FROM sso_connections WHERE workspace_id = $1 AND required', [
    workspaceId,
  ]);
  return owners.filter((owner) => owner.user_id !== userId && (required.length === 0 || owner.break_glass)).length;
}

/** The break-glass owners of a workspace from now on. */
export async function setBreakGlass(tx: Tx, workspaceId: string, userIds: readonly string[]): Promise<void> {
  const sql = `UPDATE members SET break_glass = (user_id = ANY ($2)) WHERE workspace_id = $1 AND role = 'owner'`;
  await tx.query(sql, [workspaceId, userIds]);
}
