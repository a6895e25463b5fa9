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
};

const SELECT = `SELECT m.workspace_id, m.user_id, u.email, u.name, m.role, m.created_at,
    w.needs_second_factor, ${HAS_FACTOR} AS has_second_factor
  FROM members m JOIN users u ON u.id = m.user_id JOIN workspaces w ON w.id = m.workspace_id`;

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
  await tx.query('UPDATE members SET role = $3 WHERE workspace_id = $1 AND user_id = $2', [workspaceId, userId, role]);
}

export async function deleteMember(tx: Tx, { workspaceId, userId }: Omit<NewMember, 'role'>): Promise<void> {
  await tx.query('DELETE FROM members WHERE workspace_id = $1 AND user_id = $2', [workspaceId, userId]);
}

/** Locks the owners' rows, so that two owners cannot remove each other at the same moment. */
export async function countOwners(tx: Tx, workspaceId: string): Promise<number> {
  const sql = `SELECT user_id FROM members WHERE workspace_id = $1 AND role = 'owner' FOR UPDATE`;
  return (await tx.query(sql, [workspaceId])).length;
}
