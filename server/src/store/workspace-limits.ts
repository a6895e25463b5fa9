/** The limits of workspaces that the operator changed. */
import { LIMIT_NAMES, type LimitName } from '@millrace/contract/control';
import type { Tx } from './open-store.ts';

type LimitRow = { workspace_id: string; name: string; most: string };
type OwnLimits = Partial<Record<LimitName, number>>;

/** For `Store.holds`: most installations have none. */
export const ANY_OWN_LIMITS = 'EXISTS (SELECT FROM workspace_limits)';

/** By workspace, of all that the transaction sees; of one workspace where it is named. */
export async function readOwnLimits(tx: Tx, workspaceId?: string): Promise<Map<string, OwnLimits>> {
  const sql = `SELECT workspace_id, name, most::text FROM workspace_limits
    WHERE $1::text IS NULL OR workspace_id = $1 ORDER BY workspace_id, name`;
  const rows = await tx.query<LimitRow>(sql, [workspaceId ?? null]);
  const byWorkspace = new Map<string, OwnLimits>();
  for (const { workspace_id, name, most } of rows) {
    // A newer version may have limits that this one does not know.
    if (!isLimitName(name)) continue;
    byWorkspace.set(workspace_id, { ...byWorkspace.get(workspace_id), [name]: Number(most) });
  }
  return byWorkspace;
}

export async function setOwnLimit(tx: Tx, workspaceId: string, name: LimitName, most: number): Promise<void> {
  const sql = `INSERT INTO workspace_limits (workspace_id, name, most) VALUES ($1, $2, $3)
    ON CONFLICT (workspace_id, name) DO UPDATE SET most = excluded.most, changed_at = now()`;
  await tx.query(sql, [workspaceId, name, most]);
}

export async function removeOwnLimit(tx: Tx, workspaceId: string, name: LimitName): Promise<void> {
  await tx.query('DELETE FROM workspace_limits WHERE workspace_id = $1 AND name = $2', [workspaceId, name]);
}

function isLimitName(name: string): name is LimitName {
  return (LIMIT_NAMES as readonly string[]).includes(name);
}
