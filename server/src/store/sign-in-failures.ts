/** How often a wrong password was tried for an account, over all networks and processes. */
import type { Tx } from './open-store.ts';
import { oneRow } from './rows.ts';

/** A window begins with its first failure. */
const WINDOW = `interval '1 hour'`;

export async function countSignInFailures(tx: Tx, account: Buffer): Promise<number> {
  const sql = `SELECT failures FROM sign_in_failures WHERE account = $1 AND since > now() - ${WINDOW}`;
  return (await oneRow<{ failures: number }>(tx, sql, [account]))?.failures ?? 0;
}

export async function addSignInFailure(tx: Tx, account: Buffer): Promise<void> {
  const sql = `INSERT INTO sign_in_failures AS f (account, failures, since) VALUES ($1, 1, now())
    ON CONFLICT (account) DO UPDATE SET
      failures = CASE WHEN f.since > now() - ${WINDOW} THEN f.failures + 1 ELSE 1 END,
      since = CASE WHEN f.since > now() - ${WINDOW} THEN f.since ELSE now() END`;
  await tx.query(sql, [account]);
}

export async function deleteOldSignInFailures(tx: Tx): Promise<void> {
  await tx.query(`DELETE FROM sign_in_failures WHERE since < now() - ${WINDOW}`);
}
