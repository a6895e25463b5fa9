/**
 * The people and tokens that run the installation. While no person is in the table, the owners of the first workspace are the operators:
 * that is how an installation begins, and how a version before this one decided it.
 */
import type { Tx } from './open-store.ts';
import { oneRow } from './rows.ts';

export type OperatorName = { kind: 'user' | 'token'; id: string };
export type OperatorRow = {
  kind: 'user' | 'token';
  id: string;
  name: string;
  email: string | null;
  added_by: string;
  added_at: Date;
};

/** Those whose account or token still stands. */
const STANDING = `SELECT o.kind, o.id, coalesce(u.name, t.name) AS name, u.email, o.added_by, o.added_at
  FROM operators o
    LEFT JOIN users u ON o.kind = 'user' AND u.id = o.id
    LEFT JOIN tokens t ON o.kind = 'token' AND t.id = o.id AND (t.expires_at IS NULL OR t.expires_at > now())
  WHERE coalesce(u.id, t.id) IS NOT NULL`;

const FIRST_OWNERS = `WITH first AS (SELECT id FROM workspaces ORDER BY created_at LIMIT 1)
  SELECT 'user' AS kind, u.id, u.name, u.email, 'first workspace' AS added_by, m.created_at AS added_at
    FROM first JOIN members m ON m.workspace_id = first.id AND m.role = 'owner'
      -- Accounts that a provider made have no session of their own.
      JOIN users u ON u.id = m.user_id AND u.belongs_to IS NULL
  UNION ALL
  SELECT 'token', t.id, t.name, NULL, 'first workspace', t.created_at
    FROM first JOIN tokens t ON t.workspace_id = first.id AND t.role = 'owner' AND (t.expires_at IS NULL OR t.expires_at > now())`;

export async function listOperators(tx: Tx): Promise<{ rows: OperatorRow[]; areFirstOwners: boolean }> {
  const rows = await tx.query<OperatorRow>(`${STANDING} ORDER BY o.added_at, o.id`);
  if (rows.some(({ kind }) => kind === 'user')) return { rows, areFirstOwners: false };
  const owners = await tx.query<OperatorRow>(`${FIRST_OWNERS} ORDER BY added_at, id`);
  const added = rows.filter(({ id }) => owners.every((owner) => owner.id !== id));
  return { rows: [...owners, ...added], areFirstOwners: true };
}

export async function isOperator(tx: Tx, { kind, id }: OperatorName): Promise<boolean> {
  const sql = `WITH standing AS (${STANDING})
    SELECT EXISTS (SELECT FROM standing WHERE kind = $1 AND id = $2)
      OR (NOT EXISTS (SELECT FROM standing WHERE kind = 'user')
          AND EXISTS (SELECT FROM (${FIRST_OWNERS}) AS owners WHERE owners.kind = $1 AND owners.id = $2)) AS is`;
  return (await oneRow<{ is: boolean }>(tx, sql, [kind, id]))?.is === true;
}

/** Until the end of the transaction: two operators cannot remove each other at the same moment. */
export async function lockOperators(tx: Tx): Promise<void> {
  await tx.query(`SELECT pg_advisory_xact_lock(hashtextextended('operators', 0))`);
}

/** False when it was one already. */
export async function insertOperator(tx: Tx, { kind, id }: OperatorName, addedBy: string): Promise<boolean> {
  const sql = `INSERT INTO operators (kind, id, added_by) VALUES ($1, $2, $3) ON CONFLICT DO NOTHING RETURNING id`;
  return (await oneRow(tx, sql, [kind, id, addedBy])) !== undefined;
}

/** With the tokens among the operators that this one made, and those that they made. Answers the ids that were removed. */
export async function deleteOperator(tx: Tx, id: string): Promise<string[]> {
  const sql = `WITH RECURSIVE made AS (
      SELECT $1::text AS id UNION SELECT t.id FROM made JOIN tokens t ON t.created_by = made.id
    )
    DELETE FROM operators o USING made WHERE o.id = made.id RETURNING o.id`;
  return (await tx.query<{ id: string }>(sql, [id])).map((row) => row.id);
}
