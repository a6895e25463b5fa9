import type { Tx } from './open-store.ts';
import { oneRow } from './rows.ts';

export type UserRow = { id: string; email: string; name: string; password_hash: string | null };

const COLUMNS = 'id, email, name, password_hash';

export type NewUser = { id: string; email: string; name: string; passwordHash: string | null };

export async function insertUser(tx: Tx, { id, email, name, passwordHash }: NewUser): Promise<void> {
  const sql = 'INSERT INTO users (id, email, name, password_hash) VALUES ($1, $2, $3, $4)';
  await tx.query(sql, [id, email, name, passwordHash]);
}

export function findUserByEmail(tx: Tx, email: string): Promise<UserRow | undefined> {
  return oneRow(tx, `SELECT ${COLUMNS} FROM users WHERE lower(email) = lower($1)`, [email]);
}

export function findUser(tx: Tx, id: string): Promise<UserRow | undefined> {
  return oneRow(tx, `SELECT ${COLUMNS} FROM users WHERE id = $1`, [id]);
}

export async function setPassword(tx: Tx, { id, passwordHash }: { id: string; passwordHash: string }): Promise<void> {
  await tx.query('UPDATE users SET password_hash = $2 WHERE id = $1', [id, passwordHash]);
}
