import type { Tx } from './open-store.ts';
import { oneRow } from './rows.ts';
import { deleteTicketsOf } from './sign-in-tickets.ts';

export type UserRow = {
  id: string;
  email: string;
  name: string;
  password_hash: string | null;
  /** The workspace whose connection made the account; null for a person's own. */
  belongs_to: string | null;
};

const COLUMNS = 'id, email, name, password_hash, belongs_to';

export type NewUser = {
  id: string;
  email: string;
  name: string;
  passwordHash: string | null;
  belongsTo?: string;
};

export async function insertUser(tx: Tx, { id, email, name, passwordHash, belongsTo }: NewUser): Promise<void> {
  const sql = 'INSERT INTO users (id, email, name, password_hash, belongs_to) VALUES ($1, $2, $3, $4, $5)';
  await tx.query(sql, [id, email, name, passwordHash, belongsTo ?? null]);
}

/** Never an account that a connection made: its provider chose the address. */
export function findUserByEmail(tx: Tx, email: string): Promise<UserRow | undefined> {
  const sql = `SELECT ${COLUMNS} FROM users WHERE lower(email) = lower($1) AND belongs_to IS NULL`;
  return oneRow(tx, sql, [email]);
}

export function findUser(tx: Tx, id: string): Promise<UserRow | undefined> {
  return oneRow(tx, `SELECT ${COLUMNS} FROM users WHERE id = $1`, [id]);
}

/**
 * Locks the account until the end of the transaction. False when it has another password than the row: a check of that one, which
 * ran outside of the transaction, is worth nothing any more.
 */
export async function lockPassword(tx: Tx, { id, password_hash }: UserRow): Promise<boolean> {
  const sql = 'SELECT id FROM users WHERE id = $1 AND password_hash IS NOT DISTINCT FROM $2 FOR NO KEY UPDATE';
  return (await tx.query(sql, [id, password_hash])).length > 0;
}

/** A sign-in that began with the password before ends. */
export async function setPassword(tx: Tx, { id, passwordHash }: { id: string; passwordHash: string }): Promise<void> {
  await tx.query('UPDATE users SET password_hash = $2 WHERE id = $1', [id, passwordHash]);
  await deleteTicketsOf(tx, id);
}

export async function setEmail(tx: Tx, { id, email }: { id: string; email: string }): Promise<void> {
  await tx.query('UPDATE users SET email = $2 WHERE id = $1', [id, email]);
}

/** The provider's name and address of a person whose account a connection made. */
export async function setProfile(tx: Tx, { id, email, name }: { id: string; email: string; name: string }) {
  await tx.query('UPDATE users SET email = $2, name = $3 WHERE id = $1 AND belongs_to IS NOT NULL', [id, email, name]);
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
  return tx.query('SELECT id, lower(email) AS email FROM users WHERE lower(email) = ANY($1) AND belongs_to IS NULL', [
    emails.map((email) => email.toLowerCase()),
  ]);
}
