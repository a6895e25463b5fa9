/**
 * Transitions on their way to the relay. A row of `compute_outbox` is open: the fold coalesces later transitions of the same profile and
 * definition with it, and a value that has come back to what was sent last is dropped. The relay claims rows as a batch: they move to
 * `compute_sending` and never change again, because a relay that dies may have sent them or not. After the stream has
 * acknowledged the batch, the relay deletes it and claims the next one. So the transitions that are sent of a profile and definition
 * have growing sequences, and one that is sent again has the same sequence.
 */
import type { ClaimOptions, SendingBatch, SendingTransition } from '../../compute/profiles/profile-store.ts';
import type { Statement, Tx } from '../open-store.ts';

/** Only under the relay's position. */
export async function claimBatch(tx: Tx, options: ClaimOptions): Promise<SendingBatch | undefined> {
  return (await readBatch(tx)) ?? claimNew(tx, options);
}

async function claimNew(tx: Tx, { now, most, mostOfFirstSyncs }: ClaimOptions): Promise<SendingBatch | undefined> {
  for (;;) {
    const live = await claim(tx, { now, most, isFirstSync: false });
    const room = Math.min(most - live, mostOfFirstSyncs);
    const ofFirstSyncs = room > 0 ? await claim(tx, { now, most: room, isFirstSync: true }) : 0;
    if (live + ofFirstSyncs === 0) return undefined;
    const batch = await readBatch(tx);
    // Else none of them was a change.
    if (batch !== undefined) return batch;
  }
}

/**
 * A row for one destination tells the membership as it is now. It may repeat a transition that was sent to all destinations, and then has
 * its sequence; if the membership is gone, there is nothing to tell.
 */
const CLAIM: Statement = {
  name: 'compute-outbox-claim',
  text: `WITH due AS (
      SELECT profile_key, definition, destination FROM compute_outbox WHERE is_first_sync = $3 AND send_at <= $1
      ORDER BY send_at LIMIT $2 FOR UPDATE SKIP LOCKED),
    claimed AS (
      DELETE FROM compute_outbox o USING due
      WHERE o.profile_key = due.profile_key AND o.definition = due.definition AND o.destination = due.destination RETURNING o.*),
    changed AS (
      SELECT send_at, profile_key, definition, destination, at, sequence, value FROM claimed WHERE destination = '' AND value <> before
      UNION ALL
      SELECT c.send_at, c.profile_key, c.definition, c.destination, m.since, m.sequence, coalesce(m.value, 'true')
      FROM claimed c JOIN memberships m ON m.definition = c.definition AND m.profile_key = c.profile_key WHERE c.destination <> ''),
    moved AS (
      INSERT INTO compute_sending (batch, place, at, profile_key, definition, sequence, destination, value)
      SELECT pg_current_xact_id()::text::bigint, row_number() OVER (ORDER BY send_at) + CASE WHEN $3 THEN 1000000 ELSE 0 END,
        at, profile_key, definition, sequence, destination, value FROM changed)
    SELECT count(*)::int AS count FROM claimed`,
};

type Claim = { now: number; most: number; isFirstSync: boolean };

/** How many rows left the outbox. */
async function claim(tx: Tx, { now, most, isFirstSync }: Claim): Promise<number> {
  const [row] = await tx.query<{ count: number }>(CLAIM, [now, most, isFirstSync]);
  return row?.count ?? 0;
}

type SendingRow = Omit<SendingTransition, 'value' | 'kind' | 'id'> & {
  batch: string;
  value: string;
  isUser: boolean;
  /** NULL when the profile is gone. */
  id: string | null;
};

/** The destinations are those that the definition has now. */
const READ: Statement = {
  name: 'compute-sending-read',
  text: `SELECT s.batch::text AS batch, d.workspace_id AS "workspaceId", s.definition, d.id AS "definitionId",
      d.kind AS "definitionKind", d.key AS "definitionKey", replace(s.profile_key::text, '-', '') AS key, p.is_user AS "isUser", p.id,
      s.value, s.sequence, s.at::float8 AS at,
      CASE WHEN s.destination = '' THEN d.destinations ELSE ARRAY[s.destination] END AS destinations
    FROM compute_sending s JOIN definitions d ON d.number = s.definition LEFT JOIN profiles p ON p.profile_key = s.profile_key
    ORDER BY s.batch, s.place`,
};

async function readBatch(tx: Tx): Promise<SendingBatch | undefined> {
  const rows = await tx.query<SendingRow>(READ);
  const batch = rows[0]?.batch;
  if (batch === undefined) return undefined;
  return { batch, transitions: rows.flatMap((row) => (row.batch === batch ? transitionOf(row) : [])) };
}

function transitionOf(row: SendingRow): SendingTransition | [] {
  const { workspaceId, definition, definitionId, definitionKind, definitionKey, key, isUser, id } = row;
  if (id === null) return [];
  const kind = isUser ? 'user' : 'anonymous';
  const { sequence, at, destinations } = row;
  const whose = { workspaceId, definition, definitionId, definitionKind, definitionKey, key, kind, id } as const;
  return { ...whose, value: JSON.parse(row.value), sequence, at, destinations };
}

export async function deleteBatch(tx: Tx, batch: string): Promise<void> {
  await tx.query('DELETE FROM compute_sending WHERE batch = $1', [batch]);
}

export type FirstSync = { definition: number; destination: string };

/**
 * Queues what a destination that was attached later has to be told: the next `limit` memberships after a key. Returns the last key, or
 * undefined at the end.
 */
export async function addFirstSync(
  tx: Tx,
  { definition, destination }: FirstSync,
  { after, limit, now }: { after: string | undefined; limit: number; now: number },
): Promise<string | undefined> {
  const sql = `WITH page AS (
      SELECT m.* FROM memberships m WHERE m.definition = $1 AND ($3::uuid IS NULL OR m.profile_key > $3)
      ORDER BY m.profile_key LIMIT $4),
    queued AS (
      INSERT INTO compute_outbox (definition, profile_key, at, sequence, send_at, is_first_sync, destination, value, before)
      SELECT definition, profile_key, since, sequence, $5, true, $2, coalesce(value, 'true'), 'null' FROM page
      ON CONFLICT (profile_key, definition, destination) DO NOTHING)
    SELECT replace(profile_key::text, '-', '') AS key FROM page ORDER BY profile_key DESC LIMIT 1`;
  const [row] = await tx.query<{ key: string }>(sql, [definition, destination, after ?? null, limit, now]);
  return row?.key;
}
