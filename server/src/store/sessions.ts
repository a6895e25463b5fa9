import type { Tx } from './open-store.ts';
import { oneRow } from './rows.ts';

export type SessionRow = {
  id: string;
  user_id: string;
  address: string;
  user_agent: string;
  created_at: Date;
  last_seen_at: Date;
  expires_at: Date;
  /** The kind of browser that it began in; null for one of an older version. */
  browser: string | null;
  last_address: string | null;
  /** The workspace whose connection began it; null for one that opens the whole account. */
  bound_to: string | null;
  sign_out_url: string | null;
};

export type NewSession = {
  id: string;
  userId: string;
  secretHash: Buffer;
  address: string;
  userAgent: string;
  browser: string;
  expiresAt: Date;
  boundTo: string | null;
  signOutUrl: string | null;
};

/** Sessions of a person: all of them, or those that one workspace's connection began. */
export type SessionsOf = { userId: string; boundTo?: string | undefined };

const COLUMNS = `id, user_id, address, user_agent, created_at, last_seen_at, expires_at, browser, last_address,
  bound_to, sign_out_url`;
/** The idle timeout of a session. */
const IDLE = `interval '12 hours'`;

export async function insertSession(tx: Tx, session: NewSession): Promise<void> {
  const { id, userId, secretHash, address, userAgent, browser, expiresAt, boundTo, signOutUrl } = session;
  const sql = `INSERT INTO sessions (id, user_id, secret_hash, address, user_agent, browser, last_address, expires_at, bound_to,
      sign_out_url) VALUES ($1, $2, $3, $4, $5, $6, $4, $7, $8, $9)`;
  const bound = [boundTo, signOutUrl];
  await tx.query(sql, [id, userId, secretHash, address, userAgent, browser, expiresAt, ...bound]);
}

/** Ends the sessions of a user that were used longest ago, beyond so many. A provider ends none that it did not begin. */
export async function keepLatestSessions(
  tx: Tx,
  { userId, boundTo }: { userId: string; boundTo: string | null },
  most: number,
): Promise<void> {
  const sql = `DELETE FROM sessions WHERE id IN
    (SELECT id FROM sessions WHERE user_id = $1 AND bound_to IS NOT DISTINCT FROM $3
     ORDER BY last_seen_at DESC, created_at DESC OFFSET $2)`;
  await tx.query(sql, [userId, most, boundTo]);
}

/**
 * The session, if it is still valid; restarts its idle timeout and notes the address. A session of an older version is bound to the
 * browser that uses it first. The caller compares the browser.
 */
export function useSession(
  tx: Tx,
  secretHash: Buffer,
  { address, browser }: { address: string; browser: string },
): Promise<SessionRow | undefined> {
  const sql = `UPDATE sessions SET last_seen_at = now(), last_address = $2, browser = coalesce(browser, $3)
    WHERE secret_hash = $1 AND expires_at > now() AND last_seen_at > now() - ${IDLE} RETURNING ${COLUMNS}`;
  return oneRow(tx, sql, [secretHash, address, browser]);
}

/** Whether the session is valid, without restarting its idle timeout. */
export async function sessionStands(tx: Tx, id: string): Promise<boolean> {
  const sql = `SELECT id FROM sessions WHERE id = $1 AND expires_at > now() AND last_seen_at > now() - ${IDLE}`;
  return (await tx.query(sql, [id])).length > 0;
}

export function listSessions(tx: Tx, { userId, boundTo }: SessionsOf): Promise<SessionRow[]> {
  const sql = `SELECT ${COLUMNS} FROM sessions
    WHERE user_id = $1 AND ($2::text IS NULL OR bound_to = $2) AND expires_at > now() AND last_seen_at > now() - ${IDLE} ORDER BY last_seen_at DESC, id`;
  return tx.query(sql, [userId, boundTo ?? null]);
}

export async function deleteSession(tx: Tx, { id, userId, boundTo }: SessionsOf & { id: string }): Promise<boolean> {
  const sql = `DELETE FROM sessions WHERE id = $1 AND user_id = $2 AND ($3::text IS NULL OR bound_to = $3) RETURNING id`;
  return (await tx.query(sql, [id, userId, boundTo ?? null])).length > 0;
}

/** Where the browser of this session signs out at the provider. */
export async function signOutUrlOf(tx: Tx, id: string): Promise<string | null> {
  const sql = 'SELECT sign_out_url FROM sessions WHERE id = $1';
  return (await oneRow<{ sign_out_url: string | null }>(tx, sql, [id]))?.sign_out_url ?? null;
}

/** Ended sessions are of no use. */
export async function deleteEndedSessions(tx: Tx): Promise<void> {
  await tx.query(`DELETE FROM sessions WHERE expires_at < now() OR last_seen_at < now() - ${IDLE}`);
}

export async function deleteOtherSessions(tx: Tx, { id, userId, boundTo }: SessionsOf & { id: string }): Promise<void> {
  const sql = 'DELETE FROM sessions WHERE user_id = $2 AND id <> $1 AND ($3::text IS NULL OR bound_to = $3)';
  await tx.query(sql, [id, userId, boundTo ?? null]);
}

/** Ends the sessions that the connection of a workspace began, of all people or of one. */
export async function deleteBoundSessions(tx: Tx, workspaceId: string, userId?: string): Promise<void> {
  const sql = 'DELETE FROM sessions WHERE bound_to = $1 AND ($2::text IS NULL OR user_id = $2)';
  await tx.query(sql, [workspaceId, userId ?? null]);
}

/** From now on, for so many minutes, the session may change the ways to sign in. */
export async function confirmSession(tx: Tx, id: string, minutes: number): Promise<void> {
  const sql = `UPDATE sessions SET confirmed_until = now() + $2 * interval '1 minute' WHERE id = $1`;
  await tx.query(sql, [id, minutes]);
}

/** Until when the session may change the ways to sign in; null when it may not. */
export async function confirmedUntil(tx: Tx, id: string): Promise<Date | null> {
  const sql = 'SELECT confirmed_until FROM sessions WHERE id = $1 AND confirmed_until > now()';
  return (await oneRow<{ confirmed_until: Date }>(tx, sql, [id]))?.confirmed_until ?? null;
}
