import type { Tx } from './open-store.ts';
import { oneRow } from './rows.ts';
import { deleteTicketsOf } from './sign-in-tickets.ts';

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

/** A sign-in that began with the password before ends. */
export async function setPassword(tx: Tx, { id, passwordHash }: { id: string; passwordHash: string }): Promise<void> {
  await tx.query('UPDATE users SET password_hash = $2 WHERE id = $1', [id, passwordHash]);
  await deleteTicketsOf(tx, id);
}

export async function setEmail(tx: Tx, { id, email }: { id: string; email: string }): Promise<void> {
  await tx.query('UPDATE users SET email = $2 WHERE id = $1', [id, email]);
}

/**
 * Removes accounts that have been in no workspace for a day, with their sessions and links. A person who was removed by mistake
 * and invited again within that day keeps the account.
 */
export async function removeMemberless(tx: Tx): Promise<string[]> {
  const isMember = 'EXISTS (SELECT FROM members m WHERE m.user_id = u.id)';
  await tx.query(`UPDATE users u SET memberless_since = NULL WHERE memberless_since IS NOT NULL AND ${isMember}`);
  await tx.query(`UPDATE users u SET memberless_since = now() WHERE memberless_since IS NULL AND NOT ${isMember}`);
  const removed = await tx.query<{ id: string }>(
    `DELETE FROM users u WHERE memberless_since < now() - interval '24 hours' AND NOT ${isMember}
      AND NOT EXISTS (SELECT FROM operators o WHERE o.id = u.id) RETURNING id`,
  );
  return removed.map(({ id }) => id);
}

/** Those of these addresses that have an account. */
export function findUsersByEmail(tx: Tx, emails: readonly string[]): Promise<{ id: string; email: string }[]> {
  return tx.query('SELECT id, lower(email) AS email FROM users WHERE lower(email) = ANY($1)', [
    emails.map((email) => email.toLowerCase()),
  ]);
}
