import type { Tx } from './open-store.ts';
import { recordText } from './record-text.ts';

export type ErasedUsers = {
  workspaceId: string;
  userIds: string[];
  /** The hash of each user id, in the same order. */
  userHashes: string[];
  sourceIds: string[];
  before: Date;
};
export type ErasedCounts = { deliveries: number; attempts: number; samples: number; replays: number };

/**
 * Erases users from the record of deliveries: the outcome of an event stays, the user's ids and the receivers' answers go.
 * Returns the number of changed rows of each table.
 */
export async function eraseRecords(tx: Tx, users: ErasedUsers): Promise<ErasedCounts> {
  const { workspaceId, userIds, sourceIds, before } = users;
  const values = [workspaceId, userIds.map(recordText), sourceIds, before];
  const attempts = await tx.query(ERASE_ATTEMPTS, values);
  const deliveries = await tx.query(ERASE_DELIVERIES, values);
  const samples = await eraseSamples(tx, users);
  const replays = await eraseFromReplays(tx, users);
  return { deliveries: deliveries.length, attempts: attempts.length, samples, replays };
}

const WHOSE = `d.workspace_id = $1 AND d.user_id = ANY($2) AND d.source_id = ANY($3) AND d.received_at < $4`;

const ERASE_ATTEMPTS = `DELETE FROM attempts a USING deliveries d WHERE ${WHOSE}
  AND a.workspace_id = $1 AND a.delivery_id = d.id AND a.received_on = d.received_on RETURNING 1 AS one`;

const ERASE_DELIVERIES = `UPDATE deliveries d SET user_id = NULL, anonymous_id = NULL, sentence = NULL, is_erased = true
  WHERE ${WHOSE} RETURNING 1 AS one`;

/** A sample is a call as it was sent, in JSON: it is searched for the id as JSON writes it. */
async function eraseSamples(tx: Tx, { workspaceId, userIds, sourceIds }: ErasedUsers): Promise<number> {
  const own = 'workspace_id = $1 AND source_id = ANY($2)';
  const holds = `EXISTS (SELECT FROM unnest($3::text[], $4::text[]) AS u (id, written)
    WHERE strpos(sample->>'call', u.written) > 0 OR strpos(sample->>'messageId', u.id) > 0)`;
  const written = userIds.map((id) => JSON.stringify(id).slice(1, -1));
  const values = [workspaceId, sourceIds, userIds, written];
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
