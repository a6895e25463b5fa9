/** Which account a person of a provider has in a workspace. */
import type { Tx } from './open-store.ts';
import { oneRow } from './rows.ts';

type Named = { workspaceId: string; issuer: string; subject: string };

export async function findIdentity(tx: Tx, { workspaceId, issuer, subject }: Named): Promise<string | undefined> {
  const sql = 'SELECT user_id FROM sso_identities WHERE workspace_id = $1 AND issuer = $2 AND subject = $3';
  return (await oneRow<{ user_id: string }>(tx, sql, [workspaceId, issuer, subject]))?.user_id;
}

export async function insertIdentity(
  tx: Tx,
  { workspaceId, issuer, subject, userId }: Named & { userId: string },
): Promise<void> {
  const sql = 'INSERT INTO sso_identities (workspace_id, issuer, subject, user_id) VALUES ($1, $2, $3, $4)';
  await tx.query(sql, [workspaceId, issuer, subject, userId]);
}

/** Of one account in one workspace. */
export async function deleteIdentitiesOf(
  tx: Tx,
  { workspaceId, userId }: { workspaceId: string; userId: string },
): Promise<number> {
  const sql = 'DELETE FROM sso_identities WHERE workspace_id = $1 AND user_id = $2 RETURNING user_id';
  return (await tx.query(sql, [workspaceId, userId])).length;
}

/** The workspaces of a person that have a connection, and whether the person signs in by it. */
export async function signOnOf(tx: Tx, userId: string): Promise<Map<string, 'possible' | 'linked'>> {
  const sql = `SELECT c.workspace_id, EXISTS (SELECT FROM sso_identities i WHERE i.workspace_id = c.workspace_id
      AND i.issuer = c.issuer AND i.user_id = m.user_id) AS is_linked
    FROM members m JOIN sso_connections c ON c.workspace_id = m.workspace_id WHERE m.user_id = $1`;
  const rows = await tx.query<{ workspace_id: string; is_linked: boolean }>(sql, [userId]);
  return new Map(rows.map((row) => [row.workspace_id, row.is_linked ? 'linked' : 'possible']));
}
