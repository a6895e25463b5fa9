/** The chain of makers of a token or an invitation. A right that one maker has lost is lost for everything made after it. */
import type { Tx } from './open-store.ts';

export type MakerRow = {
  /** `missing`: a token that is gone or expired, or a user who is no longer a member. */
  kind: 'token' | 'user' | 'missing';
  role: string;
};

/**
 * The makers of what `id` made: tokens, and the user at the end of the chain. `bootstrap` and the like made the
 * first token of an installation and are no link of a chain.
 */
export function makersOf(tx: Tx, workspaceId: string, id: string): Promise<MakerRow[]> {
  const sql = `WITH RECURSIVE chain AS (
      SELECT $2::text AS id
      -- Each once: whatever the rows say, the chain ends.
      UNION
      SELECT t.created_by FROM chain c JOIN tokens t ON t.workspace_id = $1 AND t.id = c.id AND t.ends_with_maker
    )
    SELECT CASE WHEN t.id IS NOT NULL AND (t.expires_at IS NULL OR t.expires_at > now()) THEN 'token'
        WHEN m.user_id IS NOT NULL THEN 'user' ELSE 'missing' END AS kind,
      coalesce(t.role, m.role, '') AS role
    FROM chain c
      LEFT JOIN tokens t ON t.workspace_id = $1 AND t.id = c.id
      LEFT JOIN members m ON m.workspace_id = $1 AND m.user_id = c.id
    WHERE c.id ~ '^(tok|usr)_'`;
  return tx.query(sql, [workspaceId, id]);
}

/** Ids of the tokens that these users or tokens made, and of all that those made. */
export async function tokensMadeBy(tx: Tx, workspaceId: string, id: string): Promise<string[]> {
  const sql = `WITH RECURSIVE made AS (
      SELECT id FROM tokens WHERE workspace_id = $1 AND created_by = $2 AND ends_with_maker
      UNION
      SELECT t.id FROM made JOIN tokens t ON t.workspace_id = $1 AND t.created_by = made.id AND t.ends_with_maker
    )
    SELECT id FROM made ORDER BY id`;
  return (await tx.query<{ id: string }>(sql, [workspaceId, id])).map((row) => row.id);
}
