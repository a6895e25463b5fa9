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
};

export type NewSession = {
  id: string;
  userId: string;
  secretHash: Buffer;
  address: string;
  userAgent: string;
  browser: string;
  expiresAt: Date;
};

const COLUMNS = 'id, user_id, address, user_agent, created_at, last_seen_at, expires_at, browser, last_address';
/** The idle timeout of a session. */
const IDLE = `interval '12 hours'`;

export async function insertSession(tx: Tx, session: NewSession): Promise<void> {
  const { id, userId, secretHash, address, userAgent, browser, expiresAt } = session;
  const sql = `INSERT INTO sessions (id, user_id, secret_hash, address, user_agent, browser, last_address, expires_at)
    VALUES ($1, $2, $3, $4, $5, $6, $4, $7)`;
  await tx.query(sql, [id, userId, secretHash, address, userAgent, browser, expiresAt]);
}

/** Ends the sessions of a user that were used longest ago, beyond so many. */
export async function keepLatestSessions(tx: Tx, userId: string, most: number): Promise<void> {
  const sql = `DELETE FROM sessions WHERE id IN
    (SELECT id FROM sessions WHERE user_id = $1 ORDER BY last_seen_at DESC, created_at DESC OFFSET $2)`;
  await tx.query(sql, [userId, most]);
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

export function listSessions(tx: Tx, userId: string): Promise<SessionRow[]> {
  const sql = `SELECT ${COLUMNS} FROM sessions
    WHERE user_id = $1 AND expires_at > now() AND last_seen_at > now() - ${IDLE} ORDER BY last_seen_at DESC, id`;
  return tx.query(sql, [userId]);
}

export async function deleteSession(tx: Tx, { id, userId }: { id: string; userId: string }): Promise<boolean> {
  const rows = await tx.query('DELETE FROM sessions WHERE id = $1 AND user_id = $2 RETURNING id', [id, userId]);
  return rows.length > 0;
}

/** Ended sessions are of no use. */
export async function deleteEndedSessions(tx: Tx): Promise<void> {
  await tx.query(`DELETE FROM sessions WHERE expires_at < now() OR last_seen_at < now() - ${IDLE}`);
}

export async function deleteOtherSessions(tx: Tx, { id, userId }: { id: string; userId: string }): Promise<void> {
  await tx.query('DELETE FROM sessions WHERE user_id = $2 AND id <> $1', [id, userId]);
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
