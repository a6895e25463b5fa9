/** Sign-ins that wait for their second factor: their tries are counted, and one of them succeeds. */
import type { Tx } from './open-store.ts';
import { oneRow } from './rows.ts';

export type NewSignInTicket = { id: string; userId: string; validMs: number };

export async function insertSignInTicket(tx: Tx, { id, userId, validMs }: NewSignInTicket): Promise<void> {
  const sql = `INSERT INTO sign_in_tickets (id, user_id, tries, passkey_tried, expires_at)
    VALUES ($1, $2, 0, false, now() + $3 * interval '1 millisecond')`;
  await tx.query(sql, [id, userId, validMs]);
}

/**
 * Counts a try before its verdict is known, and locks the ticket for the rest of the transaction. Undefined when the ticket is used, has
 * ended or has no try left.
 */
export async function tryTicket(
  tx: Tx,
  { id, isPasskey, most }: { id: string; isPasskey: boolean; most: number },
): Promise<{ userId: string } | undefined> {
  const sql = `UPDATE sign_in_tickets SET tries = tries + 1, passkey_tried = passkey_tried OR $2
    WHERE id = $1 AND NOT is_used AND tries < $3 AND NOT (passkey_tried AND $2) AND expires_at > now()
    RETURNING user_id AS "userId"`;
  return oneRow(tx, sql, [id, isPasskey, most]);
}

export async function useTicket(tx: Tx, id: string): Promise<void> {
  await tx.query('UPDATE sign_in_tickets SET is_used = true WHERE id = $1', [id]);
}

/** A ticket without a row, of a sign-in by a passkey alone: false when it was used before. */
export async function spendTicket(tx: Tx, { id, userId, validMs }: NewSignInTicket): Promise<boolean> {
  const sql = `INSERT INTO sign_in_tickets (id, user_id, tries, passkey_tried, is_used, expires_at)
    VALUES ($1, $2, 1, true, true, now() + $3 * interval '1 millisecond') ON CONFLICT (id) DO NOTHING RETURNING id`;
  return (await tx.query(sql, [id, userId, validMs])).length > 0;
}

/**
 * After a new password: a sign-in that began with the old one must not go on. Used tickets stay until their end: the row alone says
 * that a sign-in by a passkey was answered already.
 */
export async function deleteTicketsOf(tx: Tx, userId: string): Promise<void> {
  await tx.query('DELETE FROM sign_in_tickets WHERE user_id = $1 AND NOT is_used', [userId]);
}

export async function deleteEndedTickets(tx: Tx): Promise<void> {
  await tx.query('DELETE FROM sign_in_tickets WHERE expires_at < now()');
}
