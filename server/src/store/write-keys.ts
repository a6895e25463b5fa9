import type { Tx } from './open-store.ts';
import { oneRow } from './rows.ts';

export type WriteKeyRow = {
  workspace_id: string;
  id: string;
  source_id: string;
  label: string;
  key_hash: Buffer;
  key_sealed: Buffer;
  created_at: Date;
  last_used_at: Date | null;
};

export type NewWriteKey = {
  workspaceId: string;
  id: string;
  sourceId: string;
  label: string;
  keyHash: Buffer;
  keySealed: Buffer;
};

const COLUMNS = 'workspace_id, id, source_id, label, key_hash, key_sealed, created_at, last_used_at';

export async function insertWriteKey(tx: Tx, key: NewWriteKey): Promise<void> {
  const sql = `INSERT INTO write_keys (workspace_id, id, source_id, label, key_hash, key_sealed)
    VALUES ($1, $2, $3, $4, $5, $6)`;
  await tx.query(sql, [key.workspaceId, key.id, key.sourceId, key.label, key.keyHash, key.keySealed]);
}

/** The keys that still work, of these sources. */
export function listWriteKeys(tx: Tx, workspaceId: string, sourceIds: string[]): Promise<WriteKeyRow[]> {
  const sql = `SELECT ${COLUMNS} FROM write_keys
    WHERE workspace_id = $1 AND source_id = ANY($2) AND revoked_at IS NULL ORDER BY created_at, id`;
  return tx.query(sql, [workspaceId, sourceIds]);
}

/** A revoked key stays in the table: its hash must never be given out again. */
export function revokeWriteKey(
  tx: Tx,
  key: { workspaceId: string; sourceId: string; id: string },
): Promise<WriteKeyRow | undefined> {
  const sql = `UPDATE write_keys SET revoked_at = now()
    WHERE workspace_id = $1 AND source_id = $2 AND id = $3 AND revoked_at IS NULL RETURNING ${COLUMNS}`;
  return oneRow(tx, sql, [key.workspaceId, key.sourceId, key.id]);
}

export async function noteKeysUsed(
  tx: Tx,
  { workspaceId, keyHashes, at }: { workspaceId: string; keyHashes: Buffer[]; at: string },
): Promise<void> {
  const sql = `UPDATE write_keys SET last_used_at = greatest(last_used_at, $3::timestamptz)
    WHERE workspace_id = $1 AND key_hash = ANY($2)`;
  await tx.query(sql, [workspaceId, keyHashes, at]);
}
