import type { Tx } from './open-store.ts';
import { oneRow } from './rows.ts';

export type ActorName = { name: string | null; email: string | null };

const UNKNOWN: ActorName = { name: null, email: null };

/** Of a token, or of a user who is still a member: a workspace learns nothing new of those who left. */
export async function findActorName(tx: Tx, workspaceId: string, { kind, id }: { kind: string; id: string }) {
  const sql =
    kind === 'token'
      ? 'SELECT name, NULL AS email FROM tokens WHERE workspace_id = $1 AND id = $2'
      : `SELECT u.name, u.email FROM members m JOIN users u ON u.id = m.user_id
          WHERE m.workspace_id = $1 AND m.user_id = $2`;
  return (await oneRow<ActorName>(tx, sql, [workspaceId, id])) ?? UNKNOWN;
}
