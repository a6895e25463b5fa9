import type { Tx } from './open-store.ts';
import { oneRow } from './rows.ts';

/** Replaces the codes that the user had. */
export async function setRecoveryCodes(tx: Tx, userId: string, hashes: readonly Buffer[]): Promise<void> {
  await deleteRecoveryCodes(tx, userId);
  await tx.query('INSERT INTO recovery_codes (user_id, code_hash) SELECT $1, unnest($2::bytea[])', [userId, hashes]);
}

/** Of two concurrent uses of the same code, one succeeds. */
export async function takeRecoveryCode(tx: Tx, userId: string, hash: Buffer): Promise<boolean> {
  const sql = 'DELETE FROM recovery_codes WHERE user_id = $1 AND code_hash = $2 RETURNING user_id';
  return (await tx.query(sql, [userId, hash])).length > 0;
}

export async function countRecoveryCodes(tx: Tx, userId: string): Promise<number> {
  const sql = 'SELECT count(*)::int AS count FROM recovery_codes WHERE user_id = $1';
  return (await oneRow<{ count: number }>(tx, sql, [userId]))?.count ?? 0;
}

export async function deleteRecoveryCodes(tx: Tx, userId: string): Promise<void> {
  await tx.query('DELETE FROM recovery_codes WHERE user_id = $1', [userId]);
}
