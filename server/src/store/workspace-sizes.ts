/** Every workspace by its numbers, for operators. */
import type { Tx } from './open-store.ts';
import type { Page } from './rows.ts';

export type WorkspaceSize = {
  id: string;
  name: string;
  created_at: Date;
  ends_at: Date | null;
  members: number;
  sources: number;
  destinations: number;
  definitions: number;
  calls: string;
  calls_before: string;
};

/** `month` is its first day. */
export function listWorkspaceSizes(tx: Tx, month: string, { limit, after = '' }: Page): Promise<WorkspaceSize[]> {
  const count = (table: string) => `(SELECT count(*)::int FROM ${table} x WHERE x.workspace_id = w.id)`;
  const calls = (start: string) => `(SELECT coalesce(sum(u.calls), 0)::text FROM usage u
    WHERE u.workspace_id = w.id AND u.month = ${start})`;
  const sql = `SELECT w.id, w.name, w.created_at,
      (SELECT e.ends_at FROM workspace_ends e WHERE e.workspace_id = w.id) AS ends_at, ${count('members')} AS members, ${count('sources')} AS sources,
      ${count('destinations')} AS destinations, ${count('definitions')} AS definitions, ${calls('$1::date')} AS calls,
      ${calls(`($1::date - interval '1 month')::date`)} AS calls_before
    FROM workspaces w WHERE w.id > $2 ORDER BY w.id LIMIT $3`;
  return tx.query(sql, [month, after, limit]);
}
