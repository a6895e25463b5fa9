/** The log of outcomes that programs follow: a head for each workspace that is read, and chunks with the outcomes. */
import type { Tx } from './open-store.ts';
import { oneRow, readInOrder } from './rows.ts';

export type ExportHead = { generation: string; position: number; tag: string };
export type HeadOf = { workspace_id: string; position: number };

export type NewChunk = {
  workspace_id: string;
  first_position: number;
  last_position: number;
  tag: string;
  written_on: string;
  /** A list in JSON. */
  outcomes: string;
};

/** Makes the partition of a day where it is missing. */
export async function makeChunkPartition(tx: Tx, day: string): Promise<void> {
  await tx.query(`SELECT make_sized_partition('outcome_chunks', $1::date, $1::date, $1::date + 1, 1)`, [day]);
}

/** Returns the name of a dropped partition, or undefined when none is left to drop. */
export async function dropOldChunks(tx: Tx, before: string): Promise<string | undefined> {
  const sql = `SELECT drop_record_partition('outcome_chunks', $1) AS name`;
  return (await oneRow<{ name: string | null }>(tx, sql, [before]))?.name ?? undefined;
}

/** Of these workspaces, those whose outcomes are wanted: locked until the transaction ends, in one order. */
export function lockExports(tx: Tx, workspaceIds: readonly string[]): Promise<HeadOf[]> {
  const sql = `SELECT workspace_id, position::float8 AS position FROM outcome_exports
    WHERE workspace_id = ANY($1) AND wanted_until > now() ORDER BY workspace_id FOR UPDATE`;
  return tx.query(sql, [workspaceIds]);
}

/** Only under lockExports. */
export async function appendChunks(tx: Tx, chunks: readonly NewChunk[]): Promise<void> {
  if (chunks.length === 0) return;
  const given = [JSON.stringify(chunks)];
  await tx.query(
    `INSERT INTO outcome_chunks (workspace_id, first_position, last_position, tag, written_on, outcomes)
     SELECT workspace_id, first_position, last_position, tag, written_on, outcomes FROM json_to_recordset($1)
       AS given (workspace_id text, first_position bigint, last_position bigint, tag text, written_on date, outcomes text)`,
    given,
  );
  await tx.query(
    `UPDATE outcome_exports e SET position = given.last_position, tag = given.tag
     FROM (SELECT DISTINCT ON (workspace_id) workspace_id, last_position, tag FROM json_to_recordset($1)
       AS given (workspace_id text, last_position bigint, tag text) ORDER BY workspace_id, last_position DESC) AS given
     WHERE e.workspace_id = given.workspace_id`,
    given,
  );
}

/** Longer than a transaction can last: a recorder may have left out a workspace whose time was over by its clock. */
const MARGIN = '1 minute';

/**
 * Says that the outcomes of a workspace are wanted for this time from now on. If the recorder may have stopped writing them, the log
 * begins anew, with another generation.
 */
export async function wantExport(
  tx: Tx,
  workspaceId: string,
  { generation, forMs }: { generation: string; forMs: number },
): Promise<ExportHead> {
  const isOver = `e.wanted_until < now() + interval '${MARGIN}'`;
  const sql = `INSERT INTO outcome_exports AS e (workspace_id, generation, position, tag, wanted_until)
    VALUES ($1, $2, 0, $2, now() + make_interval(secs => $3))
    ON CONFLICT (workspace_id) DO UPDATE SET wanted_until = greatest(e.wanted_until, excluded.wanted_until),
      generation = CASE WHEN ${isOver} THEN excluded.generation ELSE e.generation END
    RETURNING generation, position::float8 AS position, tag`;
  const head = await oneRow<ExportHead>(tx, sql, [workspaceId, generation, forMs / 1_000]);
  if (head === undefined) throw new Error('an insert without a row');
  return head;
}

export type Chunk = { first: number; last: number; tag: string; outcomes: string };

/** The first chunks with an outcome at the position or after it, oldest first. */
export async function chunksFrom(tx: Tx, workspaceId: string, position: number, most: number): Promise<Chunk[]> {
  await readInOrder(tx);
  const sql = `SELECT first_position::float8 AS first, last_position::float8 AS last, tag, outcomes FROM outcome_chunks
    WHERE workspace_id = $1 AND last_position >= $2 ORDER BY last_position LIMIT $3`;
  return tx.query(sql, [workspaceId, position, most]);
}

/** The tag of the chunk with this position; undefined when it is not there any more, or none was ever written. */
export async function tagAt(tx: Tx, workspaceId: string, position: number): Promise<string | undefined> {
  const sql = `SELECT tag FROM (SELECT first_position, tag FROM outcome_chunks
      WHERE workspace_id = $1 AND last_position >= $2 ORDER BY last_position LIMIT 1) AS next WHERE first_position <= $2`;
  return (await oneRow<{ tag: string }>(tx, sql, [workspaceId, position]))?.tag;
}
