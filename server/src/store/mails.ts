import type { Tx } from './open-store.ts';
import { oneRow } from './rows.ts';

type Key = { workspaceId: string; id: string };

export type NewMail = Key & { kind: string; sealed: Buffer; expiresAt: Date };

/** A mail that this process has claimed. */
export type MailRow = {
  workspace_id: string;
  id: string;
  kind: string;
  content_sealed: Buffer;
  /** With the one that begins now. */
  attempts: number;
  /** Milliseconds until its link ends; negative afterwards. */
  left_ms: number;
};

export async function insertMail(tx: Tx, { workspaceId, id, kind, sealed, expiresAt }: NewMail): Promise<void> {
  const sql = 'INSERT INTO mails (workspace_id, id, kind, content_sealed, expires_at) VALUES ($1, $2, $3, $4, $5)';
  await tx.query(sql, [workspaceId, id, kind, sealed, expiresAt]);
}

/** Claims mails that are due, each under a lease: a mail of a process that dies is sent by another one after it. */
export function claimMails(tx: Tx, { limit, leaseMs }: { limit: number; leaseMs: number }): Promise<MailRow[]> {
  const sql = `UPDATE mails SET attempts = attempts + 1, next_at = now() + $2 * interval '1 millisecond'
    WHERE (workspace_id, id) IN (SELECT workspace_id, id FROM mails WHERE state = 'waiting' AND next_at <= now()
      ORDER BY next_at LIMIT $1 FOR UPDATE SKIP LOCKED)
    RETURNING workspace_id, id, kind, content_sealed, attempts,
      (extract(epoch FROM expires_at - now()) * 1000)::float8 AS left_ms`;
  return tx.query(sql, [limit, leaseMs]);
}

/** Removes the content: a mail that was sent needs no copy here, and the link of a dead one must not lie around. */
export async function endMail(
  tx: Tx,
  { workspaceId, id }: Key,
  { state, why }: { state: 'sent' | 'dead'; why: string | null },
): Promise<void> {
  const sql = `UPDATE mails SET state = $3, last_error = $4, content_sealed = NULL, ended_at = now()
    WHERE workspace_id = $1 AND id = $2 AND state = 'waiting'`;
  await tx.query(sql, [workspaceId, id, state, why]);
}

export async function delayMail(
  tx: Tx,
  { workspaceId, id }: Key,
  { afterMs, why }: { afterMs: number; why: string },
): Promise<void> {
  const sql = `UPDATE mails SET next_at = now() + $3 * interval '1 millisecond', last_error = $4
    WHERE workspace_id = $1 AND id = $2 AND state = 'waiting'`;
  await tx.query(sql, [workspaceId, id, afterMs, why]);
}

export type MailCounts = {
  waiting: number;
  dead: number;
  /** Of the mail that has waited longest; 0 without one. */
  oldest_seconds: number;
  /** Why the last of them was not sent. */
  last_error: string | null;
};

export async function countMails(tx: Tx): Promise<MailCounts> {
  const sql = `SELECT count(*) FILTER (WHERE state = 'waiting')::int AS waiting,
      count(*) FILTER (WHERE state = 'dead')::int AS dead,
      coalesce(extract(epoch FROM now() - min(created_at) FILTER (WHERE state = 'waiting')), 0)::float8 AS oldest_seconds,
      (array_agg(last_error ORDER BY created_at DESC) FILTER (WHERE last_error IS NOT NULL))[1] AS last_error
    FROM mails WHERE state <> 'sent'`;
  return (await oneRow<MailCounts>(tx, sql, [])) ?? { waiting: 0, dead: 0, oldest_seconds: 0, last_error: null };
}

/** The mails of a workspace in the last day, whatever became of them. */
export async function countMailsOfDay(tx: Tx, workspaceId: string): Promise<number> {
  const sql = `SELECT count(*)::int AS count FROM mails
    WHERE workspace_id = $1 AND created_at > now() - interval '24 hours'`;
  return (await oneRow<{ count: number }>(tx, sql, [workspaceId]))?.count ?? 0;
}

/** Mails that were sent count for a day against the limit of their workspace; dead ones are shown for a week. */
export async function deleteEndedMails(tx: Tx): Promise<void> {
  await tx.query(`DELETE FROM mails WHERE (state = 'sent' AND ended_at < now() - interval '24 hours')
    OR (state = 'dead' AND ended_at < now() - interval '7 days')`);
}
