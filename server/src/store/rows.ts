import type { Tx } from './open-store.ts';

/** A page of a list: up to `limit` rows after the one that `cursor` names. */
export type Page = { limit: number; after: string | undefined };

/** The only row, or undefined. */
export async function oneRow<Row extends Record<string, unknown>>(
  tx: Tx,
  sql: string,
  values: readonly unknown[],
): Promise<Row | undefined> {
  const rows = await tx.query<Row>(sql, values);
  return rows[0];
}

/**
 * For the rest of the transaction, read by index. Row-level security makes PostgreSQL expect that next to no row is
 * visible, so for one page of many rows it may fetch and sort them all: 100 ms instead of 1 at 100,000 rows. A statement that
 * has no index then looks so costly that PostgreSQL would compile it first, which takes another 150 ms: hence no JIT.
 */
export async function readInOrder(tx: Tx): Promise<void> {
  await tx.query(
    `SELECT set_config('enable_seqscan', 'off', true), set_config('enable_bitmapscan', 'off', true), set_config('jit', 'off', true)`,
  );
}
