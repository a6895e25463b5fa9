import type { Tx } from './open-store.ts';

export type CanaryRow = { key_id: number; canary: Buffer };

export function listCanaries(tx: Tx): Promise<CanaryRow[]> {
  return tx.query('SELECT key_id, canary FROM key_ring ORDER BY key_id');
}

export async function insertCanary(tx: Tx, { keyId, canary }: { keyId: number; canary: Buffer }): Promise<void> {
  await tx.query('INSERT INTO key_ring (key_id, canary) VALUES ($1, $2) ON CONFLICT (key_id) DO NOTHING', [
    keyId,
    canary,
  ]);
}

export async function deleteCanary(tx: Tx, keyId: number): Promise<void> {
  await tx.query('DELETE FROM key_ring WHERE key_id = $1', [keyId]);
}
