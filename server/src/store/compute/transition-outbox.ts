/**
 * Transitions on their way to the relay. A row of the outbox is open at first: the fold coalesces later transitions of the same profile and
 * definition with it, and a value that has come back to the one that was sent last is dropped. The relay claims rows by marking them with a
 * batch; they never change again, because a relay that dies may have sent them or not. After the stream has acknowledged the batch, the
 * relay deletes it and claims the next one. So the transitions that are sent of a profile and definition have growing sequences, and one
 * that is sent again has the same sequence.
 */
import type { ClaimOptions, SendingBatch, SendingTransition } from '../../compute/profiles/profile-store.ts';
import type { Statement, Tx } from '../open-store.ts';
import { int4Array, uuidArray } from './binary-array.ts';

/** A batch with the names of all its rows, also of those whose profile is gone. */
export type ClaimedBatch = SendingBatch & { rows: readonly SendingRow[] };

export type SendingRow = Omit<SendingTransition, 'value' | 'kind' | 'id'> & {
  batch: string;
  value: string;
  isUser: boolean;
  /** NULL when the profile is gone. */
  id: string | null;
};

/** The destinations are those that the definition has now. */
const rowsOf = (
  table: string,
) => `SELECT s.batch::text AS batch, d.workspace_id AS "workspaceId", s.definition, d.id AS "definitionId",
    d.kind AS "definitionKind", d.key AS "definitionKey", replace(s.profile_key::text, '-', '') AS key, p.is_user AS "isUser", p.id,
    s.value, s.sequence, s.at::float8 AS at,
    CASE WHEN s.destination = '' THEN d.destinations ELSE ARRAY[s.destination] END AS destinations
  FROM ${table} s JOIN definitions d ON d.number = s.definition LEFT JOIN profiles p ON p.profile_key = s.profile_key
  ORDER BY s.batch, s.is_first_sync, s.send_at, s.profile_key, s.definition`;

const READ: Statement = {
  name: 'compute-outbox-read',
  text: rowsOf('(SELECT * FROM compute_outbox WHERE batch IS NOT NULL)'),
};

/** The batch that an earlier relay has left. Reads the whole outbox. */
export async function readBatch(tx: Tx): Promise<ClaimedBatch | undefined> {
  const rows = await tx.query<SendingRow>(READ);
  return batchOf(rows.filter(({ batch }) => batch === rows[0]?.batch));
}

/** Only when no batch is being sent. */
export async function claimBatch(tx: Tx, options: ClaimOptions): Promise<ClaimedBatch | undefined> {
  const { now, most, mostOfFirstSyncs } = options;
  for (;;) {
    const live = await claim(tx, CLAIM, { now, most });
    const room = Math.min(most - live.due, mostOfFirstSyncs);
    const ofFirstSyncs = room > 0 ? await claim(tx, CLAIM_FIRST_SYNCS, { now, most: room }) : NOTHING;
    const batch = batchOf([...live.rows, ...ofFirstSyncs.rows]);
    // Without rows none of them was a change.
    if (batch !== undefined || live.due + ofFirstSyncs.due === 0) return batch;
  }
}

type Claim = { due: number; rows: SendingRow[] };
const NOTHING: Claim = { due: 0, rows: [] };

const MARK = 'pg_current_xact_id()::text::bigint';
const DUE = (isFirstSync: boolean) => `due AS (
    SELECT ctid AS place, definition, profile_key, destination, value, before FROM compute_outbox
    WHERE is_first_sync = ${isFirstSync} AND send_at <= $1 AND batch IS NULL ORDER BY send_at LIMIT $2 FOR UPDATE SKIP LOCKED)`;
const CLAIMED = `claimed AS (${rowsOf('marked')}) SELECT (SELECT count(*)::int FROM due) AS due,
    (SELECT coalesce(json_agg(claimed), '[]') FROM claimed) AS rows`;

const CLAIM: Statement = {
  name: 'compute-outbox-claim',
  text: `WITH ${DUE(false)},
    dropped AS (DELETE FROM compute_outbox o USING due WHERE o.ctid = due.place AND due.value = due.before),
    marked AS (UPDATE compute_outbox o SET batch = ${MARK} FROM due WHERE o.ctid = due.place AND due.value <> due.before RETURNING o.*),
    ${CLAIMED}`,
};

/**
 * A row for one destination tells the membership as it is now. It may repeat a transition that was sent to all destinations, and then has
 * its sequence; if the membership is gone, there is nothing to tell.
 */
const CLAIM_FIRST_SYNCS: Statement = {
  name: 'compute-outbox-claim-first-syncs',
  text: `WITH ${DUE(true)},
    now AS (
      SELECT due.place, due.value, NULL::int AS sequence, NULL::bigint AS since FROM due WHERE destination = '' AND value <> before
      UNION ALL
      SELECT due.place, coalesce(m.value, 'true'), m.sequence, m.since FROM due
        JOIN memberships m ON m.definition = due.definition AND m.profile_key = due.profile_key WHERE destination <> ''),
    dropped AS (DELETE FROM compute_outbox o USING due WHERE o.ctid = due.place AND due.place NOT IN (SELECT place FROM now)),
    marked AS (
      UPDATE compute_outbox o SET batch = ${MARK}, value = now.value, sequence = coalesce(now.sequence, o.sequence),
        at = coalesce(now.since, o.at) FROM now WHERE o.ctid = now.place RETURNING o.*),
    ${CLAIMED}`,
};

async function claim(tx: Tx, statement: Statement, { now, most }: { now: number; most: number }): Promise<Claim> {
  const [row] = await tx.query<Claim>(statement, [now, most]);
  return row ?? NOTHING;
}

function batchOf(rows: readonly SendingRow[]): ClaimedBatch | undefined {
  const [first] = rows;
  return first && { batch: first.batch, transitions: rows.flatMap(transitionOf), rows };
}

function transitionOf(row: SendingRow): SendingTransition | [] {
  const { workspaceId, definition, definitionId, definitionKind, definitionKey, key, isUser, id } = row;
  if (id === null) return [];
  const kind = isUser ? 'user' : 'anonymous';
  const { sequence, at, destinations } = row;
  const whose = { workspaceId, definition, definitionId, definitionKind, definitionKey, key, kind, id } as const;
  return { ...whose, value: JSON.parse(row.value), sequence, at, destinations };
}

const DELETE: Statement = {
  name: 'compute-outbox-delete',
  text: `DELETE FROM compute_outbox o USING unnest($2::uuid[], $3::int4[]) AS c (key, definition)
    WHERE o.profile_key = c.key AND o.definition = c.definition AND o.batch = $1`,
};

export async function deleteBatch(tx: Tx, { batch, rows }: ClaimedBatch): Promise<void> {
  const names = [uuidArray(rows.map(({ key }) => key)), int4Array(rows.map(({ definition }) => definition))];
  await tx.query(DELETE, [batch, ...names]);
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
      SELECT definition, profile_key, since, sequence, $5, true, $2, coalesce(value, 'true'), 'null' FROM page WHERE NOT EXISTS (
        SELECT FROM compute_outbox o WHERE o.profile_key = page.profile_key AND o.definition = page.definition
          AND o.destination = $2 AND o.batch IS NULL))
    SELECT replace(profile_key::text, '-', '') AS key FROM page ORDER BY profile_key DESC LIMIT 1`;
  const [row] = await tx.query<{ key: string }>(sql, [definition, destination, after ?? null, limit, now]);
  return row?.key;
}
