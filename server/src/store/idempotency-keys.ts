import type { Tx } from './open-store.ts';
import { oneRow } from './rows.ts';

export type IdempotencyRow = { request_hash: Buffer; status: number | null; answer_sealed: Buffer | null };
type KeyOf = { workspaceId: string; key: string };

/**
 * Takes the key for this request, or returns the request that had it before. Waits for a request under way, which locks the row
 * until its transaction ends: two concurrent copies of a request are done once.
 */
export async function takeIdempotencyKey(
  tx: Tx,
  { workspaceId, key }: KeyOf,
  requestHash: Buffer,
): Promise<IdempotencyRow | undefined> {
  const inserted = await tx.query(
    `INSERT INTO idempotency_keys (workspace_id, key, request_hash) VALUES ($1, $2, $3)
     ON CONFLICT (workspace_id, key) DO NOTHING RETURNING key`,
    [workspaceId, key, requestHash],
  );
  if (inserted.length > 0) return undefined;
  const sql = 'SELECT request_hash, status, answer_sealed FROM idempotency_keys WHERE workspace_id = $1 AND key = $2';
  return oneRow(tx, sql, [workspaceId, key]);
}

export async function keepAnswer(
  tx: Tx,
  { workspaceId, key }: KeyOf,
  answer: { status: number; sealed: Buffer },
): Promise<void> {
  const sql = 'UPDATE idempotency_keys SET status = $3, answer_sealed = $4 WHERE workspace_id = $1 AND key = $2';
  await tx.query(sql, [workspaceId, key, answer.status, answer.sealed]);
}

export async function deleteOldIdempotencyKeys(tx: Tx): Promise<void> {
  await tx.query(`DELETE FROM idempotency_keys WHERE created_at < now() - interval '24 hours'`);
}
