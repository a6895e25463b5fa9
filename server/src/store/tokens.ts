import type { Tx } from './open-store.ts';
import { oneRow, type Page } from './rows.ts';

export type TokenRow = {
  workspace_id: string;
  id: string;
  name: string;
  role: string;
  scopes: string[] | null;
  hint: string;
  created_by: string;
  created_at: Date;
  expires_at: Date | null;
  last_used_at: Date | null;
  last_used_address: string | null;
  /** False only for tokens of an older version whose maker was gone. */
  ends_with_maker: boolean;
};

export type NewToken = {
  workspaceId: string;
  id: string;
  name: string;
  role: string;
  scopes: string[] | null;
  secretHash: Buffer;
  hint: string;
  createdBy: string;
  expiresAt: Date | null;
};

const COLUMNS = `workspace_id, id, name, role, scopes, hint, created_by, created_at, expires_at, last_used_at,
  last_used_address, ends_with_maker`;

export function insertToken(tx: Tx, token: NewToken): Promise<TokenRow | undefined> {
  const { workspaceId, id, name, role, scopes, secretHash, hint, createdBy, expiresAt } = token;
  const sql = `INSERT INTO tokens (workspace_id, id, name, role, scopes, secret_hash, hint, created_by, expires_at)
    VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9) RETURNING ${COLUMNS}`;
  return oneRow(tx, sql, [workspaceId, id, name, role, scopes, secretHash, hint, createdBy, expiresAt]);
}

/** The token, if it is still valid. Its last use and address are stored to the minute: one write a minute, not one a request. */
export async function useToken(tx: Tx, secretHash: Buffer, address?: string): Promise<TokenRow | undefined> {
  const found = await oneRow<TokenRow & { is_use_due: boolean }>(
    tx,
    `SELECT ${COLUMNS}, last_used_at IS DISTINCT FROM date_trunc('minute', now()) AS is_use_due FROM tokens
     WHERE secret_hash = $1 AND (expires_at IS NULL OR expires_at > now())`,
    [secretHash],
  );
  if (found === undefined) return undefined;
  const { is_use_due: isUseDue, ...token } = found;
  if (!isUseDue) return token;
  await tx.query(
    `UPDATE tokens SET last_used_at = date_trunc('minute', now()), last_used_address = coalesce($2, last_used_address)
     WHERE secret_hash = $1 AND last_used_at IS DISTINCT FROM date_trunc('minute', now())`,
    [secretHash, address ?? null],
  );
  return token;
}

/** Reads the token without changing its last use. */
export function findToken(tx: Tx, workspaceId: string, id: string): Promise<TokenRow | undefined> {
  const sql = `SELECT ${COLUMNS} FROM tokens
    WHERE workspace_id = $1 AND id = $2 AND (expires_at IS NULL OR expires_at > now())`;
  return oneRow(tx, sql, [workspaceId, id]);
}

export function listTokens(tx: Tx, workspaceId: string, { limit, after }: Page): Promise<TokenRow[]> {
  const sql = `SELECT ${COLUMNS} FROM tokens WHERE workspace_id = $1 AND id > $2 ORDER BY id LIMIT $3`;
  return tx.query(sql, [workspaceId, after ?? '', limit]);
}

export async function deleteToken(tx: Tx, workspaceId: string, id: string): Promise<TokenRow | undefined> {
  return oneRow(tx, `DELETE FROM tokens WHERE workspace_id = $1 AND id = $2 RETURNING ${COLUMNS}`, [workspaceId, id]);
}
