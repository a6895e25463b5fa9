import type { CheckedAudit } from './audit-log.ts';
import type { Tx } from './open-store.ts';
import { oneRow } from './rows.ts';

export type AuditCheckRow = {
  checked_at: Date;
  entries: string;
  broken_sequence: string | null;
  why: string | null;
};

export async function saveAuditCheck(tx: Tx, workspaceId: string, checked: CheckedAudit): Promise<void> {
  const isBroken = checked.kind === 'broken';
  const entries = isBroken ? checked.sequence - 1 : checked.end.sequence;
  const sql = `INSERT INTO audit_checks (workspace_id, checked_at, entries, broken_sequence, why)
    VALUES ($1, now(), $2, $3, $4) ON CONFLICT (workspace_id) DO UPDATE SET checked_at = excluded.checked_at,
      entries = excluded.entries, broken_sequence = excluded.broken_sequence, why = excluded.why`;
  const values = isBroken ? [checked.sequence, checked.why] : [null, null];
  await tx.query(sql, [workspaceId, Math.max(0, entries), ...values]);
}

export function findAuditCheck(tx: Tx, workspaceId: string): Promise<AuditCheckRow | undefined> {
  const sql = 'SELECT checked_at, entries, broken_sequence, why FROM audit_checks WHERE workspace_id = $1';
  return oneRow(tx, sql, [workspaceId]);
}
