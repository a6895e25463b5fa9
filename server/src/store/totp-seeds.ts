import type { Tx } from './open-store.ts';
import { oneRow } from './rows.ts';

export type TotpSeedRow = {
  id: string;
  user_id: string;
  seed_sealed: Buffer;
  created_at: Date;
  confirmed_at: Date | null;
  last_used_at: Date | null;
};

const COLUMNS = 'id, user_id, seed_sealed, created_at, confirmed_at, last_used_at';
/** How long a person may take to scan a seed and type its first code. */
const ENROL_WITHIN = `interval '15 minutes'`;

export type NewTotpSeed = { id: string; userId: string; sessionId: string; sealed: Buffer };

/** A session enrols one seed at a time: a second one replaces the first. */
export async function insertTotpSeed(tx: Tx, { id, userId, sessionId, sealed }: NewTotpSeed): Promise<void> {
  await tx.query('DELETE FROM totp_seeds WHERE session_id = $1', [sessionId]);
  const sql = 'INSERT INTO totp_seeds (id, user_id, session_id, seed_sealed) VALUES ($1, $2, $3, $4)';
  await tx.query(sql, [id, userId, sessionId, sealed]);
}

/** The seed that the session enrols, locked. */
export function findEnrolledSeed(tx: Tx, who: { userId: string; sessionId: string }): Promise<TotpSeedRow | undefined> {
  const sql = `SELECT ${COLUMNS} FROM totp_seeds
    WHERE session_id = $1 AND user_id = $2 AND created_at > now() - ${ENROL_WITHIN} FOR UPDATE`;
  return oneRow(tx, sql, [who.sessionId, who.userId]);
}

/** From now on this seed is the one of its user, in place of any before it. */
export async function confirmTotpSeed(tx: Tx, { id, user_id }: TotpSeedRow, step: number): Promise<void> {
  await deleteTotpSeed(tx, user_id);
  const sql = `UPDATE totp_seeds SET confirmed_at = now(), session_id = NULL, last_step = $2, last_used_at = now()
    WHERE id = $1`;
  await tx.query(sql, [id, step]);
}

export function findTotpSeed(tx: Tx, userId: string): Promise<TotpSeedRow | undefined> {
  return oneRow(tx, `SELECT ${COLUMNS} FROM totp_seeds WHERE user_id = $1 AND confirmed_at IS NOT NULL`, [userId]);
}

/** Of two concurrent uses of the code of one time step, one succeeds; a code of an earlier step has none. */
export async function useTotpStep(tx: Tx, id: string, step: number): Promise<boolean> {
  const sql = `UPDATE totp_seeds SET last_step = $2, last_used_at = now()
    WHERE id = $1 AND confirmed_at IS NOT NULL AND last_step < $2 RETURNING id`;
  return (await tx.query(sql, [id, step])).length > 0;
}

export async function deleteTotpSeed(tx: Tx, userId: string): Promise<boolean> {
  const sql = 'DELETE FROM totp_seeds WHERE user_id = $1 AND confirmed_at IS NOT NULL RETURNING id';
  return (await tx.query(sql, [userId])).length > 0;
}

/** Seeds that were never confirmed. */
export async function deleteUnconfirmedSeeds(tx: Tx): Promise<void> {
  await tx.query(`DELETE FROM totp_seeds WHERE confirmed_at IS NULL AND created_at < now() - ${ENROL_WITHIN}`);
}
