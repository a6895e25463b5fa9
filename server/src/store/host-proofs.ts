/** Hosts that a workspace has proven to be its own. */
import type { Tx } from './open-store.ts';

export type ProofRow = { host: string; way: 'dns' | 'http'; proven_at: Date };

/** All of the workspace, or only those of some hosts. */
export function listProofs(tx: Tx, workspaceId: string, hosts?: readonly string[]): Promise<ProofRow[]> {
  const sql = `SELECT host, way, proven_at FROM host_proofs
    WHERE workspace_id = $1 AND ($2::text[] IS NULL OR host = ANY ($2)) ORDER BY host`;
  return tx.query(sql, [workspaceId, hosts ?? null]);
}

export async function countProofs(tx: Tx, workspaceId: string): Promise<number> {
  const sql = 'SELECT count(*)::int AS proofs FROM host_proofs WHERE workspace_id = $1';
  const [row] = await tx.query<{ proofs: number }>(sql, [workspaceId]);
  return row?.proofs ?? 0;
}

export async function setProof(tx: Tx, workspaceId: string, { host, way }: Omit<ProofRow, 'proven_at'>): Promise<void> {
  const sql = `INSERT INTO host_proofs (workspace_id, host, way) VALUES ($1, $2, $3)
    ON CONFLICT (workspace_id, host) DO UPDATE SET way = excluded.way, proven_at = now()`;
  await tx.query(sql, [workspaceId, host, way]);
}

/** The hosts whose proof is gone. */
export async function deleteProofs(tx: Tx, workspaceId: string, hosts: readonly string[]): Promise<string[]> {
  const sql = 'DELETE FROM host_proofs WHERE workspace_id = $1 AND host = ANY ($2) RETURNING host';
  return (await tx.query<{ host: string }>(sql, [workspaceId, hosts])).map(({ host }) => host);
}
