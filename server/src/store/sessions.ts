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
};

export type NewSession = {
  id: string;
  userId: string;
  secretHash: Buffer;
  address: string;
  userAgent: string;
  expiresAt: Date;
};

const COLUMNS = 'id, user_id, address, user_agent, created_at, last_seen_at, expires_at';
/** The idle timeout of a session. */
const IDLE = `interval '12 hours'`;

export async function insertSession(tx: Tx, session: NewSession): Promise<void> {
  const { id, userId, secretHash, address, userAgent, expiresAt } = session;
  const sql = `INSERT INTO sessions (id, user_id, secret_hash, address, user_agent, expires_at)
    VALUES ($1, $2, $3, $4, $5, $6)`;
  await tx.query(sql, [id, userId, secretHash, address, userAgent, expiresAt]);
}

/** The session, if it is still valid; restarts its idle timeout. */
export function useSession(tx: Tx, secretHash: Buffer): Promise<SessionRow | undefined> {
  const sql = `UPDATE sessions SET last_seen_at = now()
    WHERE secret_hash = $1 AND expires_at > now() AND last_seen_at > now() - ${IDLE} RETURNING ${COLUMNS}`;
  return oneRow(tx, sql, [secretHash]);
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
