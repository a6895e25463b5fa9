/**
 * Transitions on their way to the relay. A row of the outbox is open at first: the fold coalesces later transitions of the same profile and
 * definition with it, and a value that has come back to the one that was sent last is dropped. The relay claims rows by marking them with a
 * batch; they never change again, because a relay that dies may have sent them or not. After the stream has acknowledged the batch, the
 * relay deletes it and claims the next one. So the transitions that are sent of a profile and definition have growing sequences, and one
 * that is sent again has the same sequence.
 */
import type { ClaimOptions, SendingBatch, SendingTransition } from '../../compute/profiles/profile-store.ts';
import { anonymousName, userHash } from '../../domain/withheld.ts';
import { lastErasures } from '../erased-users.ts';
import type { Statement, Tx } from '../open-store.ts';
import { int4Array, uuidArray } from './binary-array.ts';

/** A batch with all its rows, also those of profiles that are gone. */
export type ClaimedBatch = SendingBatch & { rows: readonly SendingRow[] };

/**
 * Key, definition, value, sequence, time, destination, when it may be sent (NULL for a first sync), and kind and id of the profile, which are
 * NULL when it is gone.
 */
export type SendingRow = [string, number, string, number, number, string, number | null, boolean | null, string | null];

type SendingRows = { batch: string; rows: SendingRow[] };

const rowsOf = (
  table: string,
) => `coalesce((SELECT json_agg(json_build_array(replace(s.profile_key::text, '-', ''), s.definition, s.value,
      s.sequence, s.at, s.destination, CASE WHEN NOT s.is_first_sync THEN s.send_at END, p.is_user, p.id) ORDER BY s.is_first_sync, s.send_at, s.profile_key, s.definition)
    FROM ${table} s LEFT JOIN profiles p ON p.profile_key = s.profile_key), '[]') AS rows`;

const READ: Statement = {
  name: 'compute-outbox-read',
  text: `WITH sending AS (SELECT * FROM compute_outbox WHERE batch IS NOT NULL)
    SELECT (SELECT min(batch)::text FROM sending) AS batch, ${rowsOf('sending')}`,
};

/** The batch that an earlier relay has left: there is one at most. Reads the whole outbox. */
export async function readBatch(tx: Tx): Promise<ClaimedBatch | undefined> {
  const [sending] = await tx.query<SendingRows>(READ);
  return sending && batchOf(tx, sending);
}

/** Only when no batch is being sent. */
export async function claimBatch(tx: Tx, options: ClaimOptions): Promise<ClaimedBatch | undefined> {
  const { now, most, mostOfFirstSyncs } = options;
  for (;;) {
    const live = await claim(tx, CLAIM, { now, most });
    const room = Math.min(most - live.due, mostOfFirstSyncs);
    const ofFirstSyncs = room > 0 ? await claim(tx, CLAIM_FIRST_SYNCS, { now, most: room }) : NOTHING;
    const batch = await batchOf(tx, { batch: live.batch, rows: [...live.rows, ...ofFirstSyncs.rows] });
    // Without rows none of them was a change.
    if (batch !== undefined || live.due + ofFirstSyncs.due === 0) return batch;
  }
}

type Claim = SendingRows & { due: number };
const NOTHING: Claim = { batch: '', due: 0, rows: [] };

const MARK = 'pg_current_xact_id()::text::bigint';
const DUE = (isFirstSync: boolean) => `due AS (
    SELECT ctid AS place, definition, profile_key, destination, value, before FROM compute_outbox
    WHERE is_first_sync = ${isFirstSync} AND send_at <= $1 AND batch IS NULL ORDER BY send_at LIMIT $2 FOR UPDATE SKIP LOCKED)`;
const CLAIMED = `SELECT ${MARK}::text AS batch, (SELECT count(*)::int FROM due) AS due, ${rowsOf('marked')}`;

const CLAIM: Statement = {
  name: 'compute-outbox-claim',
  text: `WITH ${DUE(false)},
    dropped AS (DELETE FROM compute_outbox o USING due WHERE o.ctid = due.place AND due.value = due.before),
    marked AS (UPDATE compute_outbox o SET batch = ${MARK} FROM due WHERE o.ctid = due.place AND due.value <> due.before RETURNING o.*)
    ${CLAIMED}`,
};

/**
 * A row for one destination tells the membership as it is now. It may repeat a transition that was sent to all destinations, and then has
 * its sequence; if the membership is gone, there is nothing to tell. From then on the relay sends a transition of the same profile that waits
 * in any case: this destination does not know the value that the others were told last.
 */
const CLAIM_FIRST_SYNCS: Statement = {
  name: 'compute-outbox-claim-first-syncs',
  text: `WITH ${DUE(true)},
    now AS (
      SELECT due.place, due.value, NULL::int AS sequence, NULL::bigint AS since FROM due WHERE destination = '' AND value <> before
      UNION ALL
      SELECT due.place, coalesce(m.value, 'true'), m.sequence, m.since FROM due
        JOIN memberships m ON m.definition = due.definition AND m.profile_key = due.profile_key WHERE destination <> ''),
    waiting AS (
      SELECT o.ctid AS place FROM due JOIN compute_outbox o ON o.profile_key = due.profile_key AND o.definition = due.definition
      WHERE due.destination <> '' AND o.destination = '' AND o.batch IS NULL AND o.ctid NOT IN (SELECT place FROM due)
      FOR UPDATE OF o SKIP LOCKED),
    unknown AS (UPDATE compute_outbox o SET before = '' FROM waiting WHERE o.ctid = waiting.place),
    dropped AS (DELETE FROM compute_outbox o USING due WHERE o.ctid = due.place AND due.place NOT IN (SELECT place FROM now)),
    marked AS (
      UPDATE compute_outbox o SET batch = ${MARK}, value = now.value, sequence = coalesce(now.sequence, o.sequence),
        at = coalesce(now.since, o.at) FROM now WHERE o.ctid = now.place RETURNING o.*)
    ${CLAIMED}`,
};

async function claim(tx: Tx, statement: Statement, { now, most }: { now: number; most: number }): Promise<Claim> {
  const [row] = await tx.query<Claim>(statement, [now, most]);
  return row ?? NOTHING;
}

/** As the definitions are now, and with the destinations that they have now. Of one whose members leave quietly nothing is sent. */
const DEFINITIONS = `SELECT number, workspace_id AS "workspaceId", id AS "definitionId", kind AS "definitionKind", key AS "definitionKey",
  destinations FROM definitions WHERE number = ANY($1) AND members_go IS DISTINCT FROM 'leave'`;

type DefinitionFields = Pick<
  SendingTransition,
  'workspaceId' | 'definitionId' | 'definitionKind' | 'definitionKey' | 'destinations'
> & { number: number };

async function batchOf(tx: Tx, { batch, rows }: SendingRows): Promise<ClaimedBatch | undefined> {
  if (rows.length === 0) return undefined;
  const numbers = [...new Set(rows.map(([, definition]) => definition))];
  const definitions = await tx.query<DefinitionFields>(DEFINITIONS, [numbers]);
  const byNumber = new Map(definitions.map(({ number, ...fields }) => [number, fields]));
  const transitions = rows.flatMap((row) => {
    const fields = byNumber.get(row[1]);
    return fields === undefined ? [] : transitionOf(row, fields);
  });
  return { batch, transitions: await withErasures(tx, transitions), rows };
}

async function withErasures(tx: Tx, transitions: readonly Unsent[]): Promise<SendingTransition[]> {
  const hashes = transitions.map(({ workspaceId, kind, id }) =>
    userHash(workspaceId, kind === 'user' ? id : anonymousName(id)),
  );
  const erasures = await lastErasures(tx, [...new Set(hashes)]);
  return transitions.map((each, nth) => ({ ...each, erasedAt: erasures.get(hashes[nth] ?? '') }));
}

type Unsent = Omit<SendingTransition, 'erasedAt'>;

function transitionOf(row: SendingRow, fields: Omit<DefinitionFields, 'number'>): Unsent | [] {
  const [key, definition, value, sequence, at, destination, sendAt, isUser, id] = row;
  if (id === null) return [];
  const destinations = destination === '' ? fields.destinations : [destination];
  const kind = isUser === true ? 'user' : 'anonymous';
  const named = { ...fields, definition, key, kind, id, destinations } as const;
  return { ...named, value: JSON.parse(value), sequence, at, sendAt: sendAt ?? undefined };
}

const DELETE: Statement = {
  name: 'compute-outbox-delete',
  text: `DELETE FROM compute_outbox o USING unnest($2::uuid[], $3::int4[]) AS c (key, definition)
    WHERE o.profile_key = c.key AND o.definition = c.definition AND o.batch = $1`,
};

export async function deleteBatch(tx: Tx, { batch, rows }: ClaimedBatch): Promise<void> {
  const names = [uuidArray(rows.map(([key]) => key)), int4Array(rows.map(([, definition]) => definition))];
  await tx.query(DELETE, [batch, ...names]);
}

export type FirstSync = { definition: number; destination: string };

/**
 * Queues what a destination that was attached later has to be told: the next `limit` memberships after a key, those of anonymous profiles
 * only if the definition includes them. Returns the last key, or undefined at the end. A profile that has left, and of which that is not
 * sent yet, may come back before it is: the destination has to be told then, so what waits is sent in any case.
 */
export async function addFirstSync(
  tx: Tx,
  { definition, destination }: FirstSync,
  { after, limit, now }: { after: string | undefined; limit: number; now: number },
): Promise<string | undefined> {
  const sql = `WITH page AS (
      SELECT m.*, p.is_user FROM memberships m JOIN profiles p ON p.profile_key = m.profile_key
      WHERE m.definition = $1 AND ($3::uuid IS NULL OR m.profile_key > $3)
      ORDER BY m.profile_key LIMIT $4),
    live AS (SELECT body FROM definition_versions WHERE definition = $1 AND state = 'live'),
    queued AS (
      INSERT INTO compute_outbox (definition, profile_key, at, sequence, send_at, is_first_sync, destination, value, before)
      SELECT definition, profile_key, since, sequence, $5, true, $2, coalesce(value, 'true'), 'null' FROM page
        WHERE (is_user OR (SELECT body->'includeAnonymous' = 'true' FROM live)) AND NOT EXISTS (
        SELECT FROM compute_outbox o WHERE o.profile_key = page.profile_key AND o.definition = page.definition
          AND o.destination = $2 AND o.batch IS NULL)),
    own AS (SELECT left(encode(sha256(convert_to(workspace_id, 'UTF8')), 'hex'), 12) AS prefix FROM definitions WHERE number = $1),
    unknown AS (
      UPDATE compute_outbox o SET before = '' WHERE o.definition = $1 AND o.destination = '' AND o.batch IS NULL
        AND o.profile_key > coalesce($3::uuid, (SELECT (prefix || repeat('0', 20))::uuid FROM own))
        AND o.profile_key <= coalesce((SELECT profile_key FROM page ORDER BY profile_key DESC LIMIT 1),
          (SELECT (prefix || repeat('f', 20))::uuid FROM own)))
    SELECT replace(profile_key::text, '-', '') AS key FROM page ORDER BY profile_key DESC LIMIT 1`;
  const [row] = await tx.query<{ key: string }>(sql, [definition, destination, after ?? null, limit, now]);
  return row?.key;
}
