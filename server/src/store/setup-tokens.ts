import type { Tx } from './open-store.ts';
import { oneRow } from './rows.ts';

export async function insertSetupToken(tx: Tx, secretHash: Buffer): Promise<void> {
  await tx.query('INSERT INTO setup_tokens (secret_hash) VALUES ($1)', [secretHash]);
}

/** A setup token expires after a day, so that a link in an old log gives no access. */
export async function isSetupToken(tx: Tx, secretHash: Buffer): Promise<boolean> {
  const sql = `SELECT 1 AS one FROM setup_tokens WHERE secret_hash = $1 AND created_at > now() - interval '24 hours'`;
  return (await oneRow(tx, sql, [secretHash])) !== undefined;
}

export async function deleteSetupTokens(tx: Tx): Promise<void> {
  await tx.query('DELETE FROM setup_tokens');
}
