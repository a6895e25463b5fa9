import type { Tx } from './open-store.ts';
import { recordText } from './record-text.ts';

export type ErasedUsers = {
  workspaceId: string;
  userIds: string[];
  /** The hash of each user id, in the same order. */
  userHashes: string[];
  /** For deliveries without a user id. */
  anonymousIds: string[];
  sourceIds: string[];
  before: Date;
};
export type ErasedCounts = { deliveries: number; attempts: number; samples: number; replays: number };

/**
 * Erases users from the record of deliveries: the outcomes of an event stay, the user's ids and the receivers' answers go.
 * Returns the number of changed rows of each table.
 */
export async function eraseRecords(tx: Tx, users: ErasedUsers): Promise<ErasedCounts> {
  const { workspaceId, userIds, sourceIds, before } = users;
  const values = [workspaceId, userIds.map(recordText), sourceIds, before];
  const attempts = await tx.query(eraseAttempts(WHOSE), values);
  const deliveries = await tx.query(eraseDeliveries(WHOSE), values);
  const samples = await eraseSamples(tx, users);
  const replays = await eraseFromReplays(tx, users);
  return { deliveries: deliveries.length, attempts: attempts.length, samples, replays };
}

const OF_SOURCES = 'd.workspace_id = $1 AND d.source_id = ANY($3) AND d.received_at < $4';
const WHOSE = `${OF_SOURCES} AND d.user_id = ANY($2)`;

/** Empties attempts and keeps their rows: the recorder counts a retry whose row is new, so a redelivered one would count again. */
const eraseAttempts = (whose: string) => `UPDATE attempts a SET answers = '[]' FROM deliveries d WHERE ${whose}
  AND a.workspace_id = $1 AND a.delivery_id = d.id AND a.received_on = d.received_on RETURNING 1 AS one`;

const eraseDeliveries = (
  whose: string,
) => `UPDATE deliveries d SET user_id = NULL, anonymous_id = NULL, sentence = NULL, is_erased = true
  WHERE ${whose} RETURNING 1 AS one`;

/** The first day in the record of a workspace, as 2026-01-31. */
export async function firstRecordedDay(tx: Tx, workspaceId: string): Promise<string | undefined> {
  const sql = `SELECT (min(received_at) AT TIME ZONE 'UTC')::date::text AS day FROM deliveries WHERE workspace_id = $1`;
  const [row] = await tx.query<{ day: string | null }>(sql, [workspaceId]);
  return row?.day ?? undefined;
}

/** The deliveries of one day that have an anonymous id and no user id. No index finds them, so it takes a day at a time. */
export async function eraseAnonymousRecords(
  tx: Tx,
  { workspaceId, anonymousIds, sourceIds, before }: ErasedUsers,
  day: string,
): Promise<Pick<ErasedCounts, 'deliveries' | 'attempts'>> {
  const whose = `${OF_SOURCES} AND d.received_on = $5 AND d.user_id IS NULL AND d.anonymous_id = ANY($2)`;
  const values = [workspaceId, anonymousIds.map(recordText), sourceIds, before, day];
  const attempts = await tx.query(eraseAttempts(whose), values);
  const deliveries = await tx.query(eraseDeliveries(whose), values);
  return { deliveries: deliveries.length, attempts: attempts.length };
}

/** A sample is a call as it was sent, in JSON: it is searched for the id as JSON writes it. */
async function eraseSamples(tx: Tx, users: ErasedUsers): Promise<number> {
  const { workspaceId, sourceIds } = users;
  const ids = [...users.userIds, ...users.anonymousIds];
  const own = 'workspace_id = $1 AND source_id = ANY($2)';
  const holds = `EXISTS (SELECT FROM unnest($3::text[], $4::text[]) AS u (id, written)
    WHERE strpos(sample->>'call', u.written) > 0 OR strpos(sample->>'messageId', u.id) > 0)`;
  const written = ids.map((id) => JSON.stringify(id).slice(1, -1));
  const values = [workspaceId, sourceIds, ids, written];
  const [erased] = await tx.query<{ count: number }>(
    `SELECT count(*)::int AS count FROM refusals, jsonb_array_elements(samples) AS sample WHERE ${own} AND ${holds}`,
    values,
  );
  await tx.query(
    `UPDATE refusals SET samples = coalesce((SELECT jsonb_agg(sample ORDER BY place)
      FROM jsonb_array_elements(samples) WITH ORDINALITY AS each (sample, place) WHERE NOT ${holds}), '[]')
    WHERE ${own} AND EXISTS (SELECT FROM jsonb_array_elements(samples) AS sample WHERE ${holds})`,
    values,
  );
  return erased?.count ?? 0;
}

/** The hash in place of the id: with the id left out, a replay of one user would become one of all. */
async function eraseFromReplays(tx: Tx, users: ErasedUsers): Promise<number> {
  const sql = `UPDATE jobs SET asked = jsonb_set(asked, '{filter,userIds}', (
      SELECT jsonb_agg(coalesce(u.hash, id) ORDER BY place)
      FROM jsonb_array_elements_text(asked#>'{filter,userIds}') WITH ORDINALITY AS each (id, place)
      LEFT JOIN unnest($3::text[], $4::text[]) AS u (user_id, hash) ON u.user_id = each.id))
    WHERE workspace_id = $1 AND kind = 'replay' AND asked->>'sourceId' = ANY($2)
      AND asked#>'{filter,userIds}' ?| $3::text[] RETURNING 1 AS one`;
  const { workspaceId, sourceIds, userIds, userHashes } = users;
  return (await tx.query(sql, [workspaceId, sourceIds, userIds, userHashes])).length;
}

export type NotificationRecord = { id: string; state: string; last_status: number | null };

/** The recorded deliveries of deletion notifications. */
export async function findNotifications(tx: Tx, workspaceId: string, ids: string[]): Promise<NotificationRecord[]> {
  if (ids.length === 0) return [];
  const sql = 'SELECT id, state, last_status FROM deliveries WHERE workspace_id = $1 AND id = ANY($2)';
  return tx.query(sql, [workspaceId, ids]);
}
