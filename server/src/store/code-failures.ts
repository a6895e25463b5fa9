/** Wrong codes of an account's authenticator app, over all processes. A window begins with its first failure. */
import type { Tx } from './open-store.ts';
import { oneRow } from './rows.ts';

const WINDOW = `interval '24 hours'`;

/**
 * Counts a code as wrong before it is checked, and locks the count for the rest of the transaction: concurrent tries cannot pass the limit
 * together. Undefined beyond the limit, else the number of tries.
 */
export async function countCode(tx: Tx, userId: string, most: number): Promise<number | undefined> {
  const sql = `INSERT INTO code_failures AS f (user_id, failures, since) VALUES ($1, 1, now())
    ON CONFLICT (user_id) DO UPDATE SET
      failures = CASE WHEN f.since > now() - ${WINDOW} THEN f.failures + 1 ELSE 1 END,
      since = CASE WHEN f.since > now() - ${WINDOW} THEN f.since ELSE now() END
    WHERE f.failures < $2 OR f.since <= now() - ${WINDOW} RETURNING failures`;
  return (await oneRow<{ failures: number }>(tx, sql, [userId, most]))?.failures;
}

/** Takes one back, because it was right. The wrong ones stay: a guesser must not get new tries from each sign-in of the owner. */
export async function giveBackCode(tx: Tx, userId: string): Promise<void> {
  await tx.query('UPDATE code_failures SET failures = greatest(failures - 1, 0) WHERE user_id = $1', [userId]);
}

export async function deleteOldCodeFailures(tx: Tx): Promise<void> {
  await tx.query(`DELETE FROM code_failures WHERE since < now() - ${WINDOW}`);
}
