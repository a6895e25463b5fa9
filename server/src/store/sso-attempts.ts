/** Sign-ins at a provider that have begun and are not answered yet. */
import type { Tx } from './open-store.ts';
import { oneRow } from './rows.ts';

export type AttemptRow = {
  workspace_id: string;
  id: string;
  content_sealed: Buffer;
  user_id: string | null;
  session_id: string | null;
};

export type NewAttempt = {
  workspaceId: string;
  id: string;
  stateHash: Buffer;
  browserHash: Buffer;
  contentSealed: Buffer;
  /** The account that is linked; null for a sign-in. */
  link: { userId: string; sessionId: string } | null;
  expiresAt: Date;
};

export async function insertAttempt(tx: Tx, attempt: NewAttempt): Promise<void> {
  const { workspaceId, id, stateHash, browserHash, contentSealed, link, expiresAt } = attempt;
  const sql = `INSERT INTO sso_attempts
    (workspace_id, id, state_hash, browser_hash, content_sealed, user_id, session_id, expires_at)
    VALUES ($1, $2, $3, $4, $5, $6, $7, $8)`;
  const ids = [link?.userId ?? null, link?.sessionId ?? null];
  await tx.query(sql, [workspaceId, id, stateHash, browserHash, contentSealed, ...ids, expiresAt]);
}

/** Of two concurrent answers with the same state, one succeeds. Another browser takes nothing away. */
export function takeAttempt(
  tx: Tx,
  { workspaceId, stateHash, browserHash }: { workspaceId: string; stateHash: Buffer; browserHash: Buffer },
): Promise<AttemptRow | undefined> {
  const sql = `DELETE FROM sso_attempts
    WHERE workspace_id = $1 AND state_hash = $2 AND browser_hash = $3 AND expires_at > now()
    RETURNING workspace_id, id, content_sealed, user_id, session_id`;
  return oneRow(tx, sql, [workspaceId, stateHash, browserHash]);
}

/** The oldest go first: strangers who begin and never finish neither fill the table nor keep people out. */
export async function keepLatestAttempts(tx: Tx, workspaceId: string, most: number): Promise<void> {
  const sql = `DELETE FROM sso_attempts WHERE workspace_id = $1 AND id IN
    (SELECT id FROM sso_attempts WHERE workspace_id = $1 ORDER BY id DESC OFFSET $2 LIMIT 100)`;
  await tx.query(sql, [workspaceId, most]);
}

/** After a change of the provider: answers of the earlier one are worth nothing. */
export async function deleteAttemptsOf(tx: Tx, workspaceId: string): Promise<void> {
  await tx.query('DELETE FROM sso_attempts WHERE workspace_id = $1', [workspaceId]);
}

export async function deleteEndedAttempts(tx: Tx): Promise<void> {
  await tx.query('DELETE FROM sso_attempts WHERE expires_at < now()');
}
