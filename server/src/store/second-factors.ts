/** Whether an account has a second factor, and the end of all of them. */
import { deleteRecoveryCodes } from './recovery-codes.ts';
import type { Tx } from './open-store.ts';
import { oneRow } from './rows.ts';
import { deleteTicketsOf } from './sign-in-tickets.ts';

/** Of the user `u` of a query. */
export const HAS_FACTOR = `(EXISTS (SELECT FROM totp_seeds t WHERE t.user_id = u.id AND t.confirmed_at IS NOT NULL)
  OR EXISTS (SELECT FROM passkeys p WHERE p.user_id = u.id))`;

export type FactorCounts = { has_totp: boolean; passkeys: number; recovery_codes: number };

/**
 * Locks the user's row until the end of the transaction: two concurrent changes of factors cannot both be the first, or both the
 * last one.
 */
export async function lockFactors(tx: Tx, userId: string): Promise<FactorCounts> {
  await tx.query('SELECT id FROM users WHERE id = $1 FOR NO KEY UPDATE', [userId]);
  return countFactors(tx, userId);
}

export async function countFactors(tx: Tx, userId: string): Promise<FactorCounts> {
  const sql = `SELECT EXISTS (SELECT FROM totp_seeds WHERE user_id = $1 AND confirmed_at IS NOT NULL) AS has_totp,
    (SELECT count(*)::int FROM passkeys WHERE user_id = $1) AS passkeys,
    (SELECT count(*)::int FROM recovery_codes WHERE user_id = $1) AS recovery_codes`;
  return (await oneRow<FactorCounts>(tx, sql, [userId])) ?? { has_totp: false, passkeys: 0, recovery_codes: 0 };
}

/** The tickets first: a sign-in under way locks its ticket before the factor. */
export async function deleteFactors(tx: Tx, userId: string): Promise<void> {
  await deleteTicketsOf(tx, userId);
  await tx.query('DELETE FROM totp_seeds WHERE user_id = $1', [userId]);
  await tx.query('DELETE FROM passkeys WHERE user_id = $1', [userId]);
  await tx.query('DELETE FROM code_failures WHERE user_id = $1', [userId]);
  await deleteRecoveryCodes(tx, userId);
}

export async function hasFactor(tx: Tx, userId: string): Promise<boolean> {
  const { has_totp, passkeys } = await countFactors(tx, userId);
  return has_totp || passkeys > 0;
}
