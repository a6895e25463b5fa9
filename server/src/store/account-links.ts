import type { Tx } from './open-store.ts';
import { oneRow } from './rows.ts';

export type LinkKind = 'password' | 'email';

export type AccountLinkRow = { kind: LinkKind; user_id: string; new_email: string | null; created_by: string };

export type NewAccountLink = {
  kind: LinkKind;
  secretHash: Buffer;
  userId: string;
  newEmail: string | null;
  createdBy: string;
  expiresAt: Date;
};

const COLUMNS = 'kind, user_id, new_email, created_by';
type Named = { kind: LinkKind; secretHash: Buffer };

export async function insertAccountLink(tx: Tx, link: NewAccountLink): Promise<void> {
  const { kind, secretHash, userId, newEmail, createdBy, expiresAt } = link;
  const sql = `INSERT INTO account_links (secret_hash, kind, user_id, new_email, created_by, expires_at)
    VALUES ($1, $2, $3, $4, $5, $6)`;
  await tx.query(sql, [secretHash, kind, userId, newEmail, createdBy, expiresAt]);
}

export function findAccountLink(tx: Tx, { kind, secretHash }: Named): Promise<AccountLinkRow | undefined> {
  const sql = `SELECT ${COLUMNS} FROM account_links WHERE secret_hash = $1 AND kind = $2 AND expires_at > now()`;
  return oneRow(tx, sql, [secretHash, kind]);
}

/** Of two concurrent uses of the same link, one succeeds. */
export function takeAccountLink(tx: Tx, { kind, secretHash }: Named): Promise<AccountLinkRow | undefined> {
  const sql = `DELETE FROM account_links WHERE secret_hash = $1 AND kind = $2 AND expires_at > now() RETURNING ${COLUMNS}`;
  return oneRow(tx, sql, [secretHash, kind]);
}

/** Unused links of a user from the last hour: a bound for mails to one person. */
export async function countRecentLinks(tx: Tx, userId: string, kind: LinkKind): Promise<number> {
  const sql = `SELECT count(*)::int AS count FROM account_links
    WHERE user_id = $1 AND kind = $2 AND created_at > now() - interval '1 hour'`;
  return (await oneRow<{ count: number }>(tx, sql, [userId, kind]))?.count ?? 0;
}

/** After a new password or a new address: a link that was made before it must not undo it. */
export async function deleteLinksOf(tx: Tx, userId: string): Promise<void> {
  await tx.query('DELETE FROM account_links WHERE user_id = $1', [userId]);
}

/** Kept for the hour that `countRecentLinks` counts. */
export async function deleteEndedLinks(tx: Tx): Promise<void> {
  await tx.query(`DELETE FROM account_links WHERE expires_at < now() AND created_at < now() - interval '1 hour'`);
}
