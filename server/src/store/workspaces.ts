import type { Tx } from './open-store.ts';
import { oneRow } from './rows.ts';

export type WorkspaceRow = { id: string; name: string; created_at: Date; needs_second_factor: boolean };

const COLUMNS = 'id, name, created_at, needs_second_factor';

export async function insertWorkspace(tx: Tx, { id, name }: { id: string; name: string }): Promise<void> {
  await tx.query('INSERT INTO workspaces (id, name) VALUES ($1, $2)', [id, name]);
}

export function findWorkspace(tx: Tx, id: string): Promise<WorkspaceRow | undefined> {
  return oneRow(tx, `SELECT ${COLUMNS} FROM workspaces WHERE id = $1`, [id]);
}

/** For a change of things that belong to the whole workspace: two concurrent ones take turns. */
export function lockWorkspace(tx: Tx, id: string): Promise<WorkspaceRow | undefined> {
  return oneRow(tx, `SELECT ${COLUMNS} FROM workspaces WHERE id = $1 FOR NO KEY UPDATE`, [id]);
}

export async function workspaceNames(tx: Tx, ids: readonly string[]): Promise<Map<string, string>> {
  const rows = await tx.query<WorkspaceRow>('SELECT id, name FROM workspaces WHERE id = ANY($1)', [ids]);
  return new Map(rows.map(({ id, name }) => [id, name]));
}

export async function renameWorkspace(tx: Tx, { id, name }: { id: string; name: string }): Promise<void> {
  await tx.query('UPDATE workspaces SET name = $2 WHERE id = $1', [id, name]);
}

export async function demandSecondFactor(tx: Tx, { id, isNeeded }: { id: string; isNeeded: boolean }): Promise<void> {
  await tx.query('UPDATE workspaces SET needs_second_factor = $2 WHERE id = $1', [id, isNeeded]);
}

/** False when there is none. Until the end of the transaction it cannot be removed. */
export async function keepWorkspace(tx: Tx, id: string): Promise<boolean> {
  return (await oneRow(tx, 'SELECT id FROM workspaces WHERE id = $1 FOR KEY SHARE', [id])) !== undefined;
}

export async function isEmptyInstallation(tx: Tx): Promise<boolean> {
  return (await oneRow(tx, 'SELECT 1 AS one FROM workspaces LIMIT 1', [])) === undefined;
}

export function findFirstWorkspace(tx: Tx): Promise<WorkspaceRow | undefined> {
  return oneRow(tx, `SELECT ${COLUMNS} FROM workspaces ORDER BY created_at LIMIT 1`, []);
}

/** Until the end of the transaction: two processes that start at the same moment set the installation up once. */
export async function lockInstallation(tx: Tx): Promise<void> {
  await tx.query(`SELECT pg_advisory_xact_lock(hashtextextended('installation', 0))`);
}
