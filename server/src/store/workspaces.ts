import type { Tx } from './open-store.ts';
import { oneRow } from './rows.ts';

export type WorkspaceRow = { id: string; name: string; created_at: Date };

export async function insertWorkspace(tx: Tx, { id, name }: { id: string; name: string }): Promise<void> {
  await tx.query('INSERT INTO workspaces (id, name) VALUES ($1, $2)', [id, name]);
}

export function findWorkspace(tx: Tx, id: string): Promise<WorkspaceRow | undefined> {
  return oneRow(tx, 'SELECT id, name, created_at FROM workspaces WHERE id = $1', [id]);
}

export async function renameWorkspace(tx: Tx, { id, name }: { id: string; name: string }): Promise<void> {
  await tx.query('UPDATE workspaces SET name = $2 WHERE id = $1', [id, name]);
}

/** False when there is none. Until the end of the transaction it cannot be removed. */
export async function lockWorkspace(tx: Tx, id: string): Promise<boolean> {
  return (await oneRow(tx, 'SELECT id FROM workspaces WHERE id = $1 FOR KEY SHARE', [id])) !== undefined;
}

export async function isEmptyInstallation(tx: Tx): Promise<boolean> {
  return (await oneRow(tx, 'SELECT 1 AS one FROM workspaces LIMIT 1', [])) === undefined;
}

export function findFirstWorkspace(tx: Tx): Promise<WorkspaceRow | undefined> {
  return oneRow(tx, 'SELECT id, name, created_at FROM workspaces ORDER BY created_at LIMIT 1', []);
}

/** Until the end of the transaction: two processes that start at the same moment set the installation up once. */
export async function lockInstallation(tx: Tx): Promise<void> {
  await tx.query(`SELECT pg_advisory_xact_lock(hashtextextended('installation', 0))`);
}
