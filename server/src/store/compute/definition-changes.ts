/** Definitions as readers see them. */
import type { DefinitionList, FoldingStart, StoredDefinition } from '../../compute/profiles/profile-store.ts';
import type { Statement, Tx } from '../open-store.ts';

type Row = { version: number; definitions: StoredDefinition[] | null };

/** Version and definitions in one statement, so that no change comes between. */
const AFTER: Statement = {
  name: 'definitions-after',
  text: `SELECT v.version::float8 AS version, (
      SELECT json_agg(json_build_object('number', d.number, 'id', d.id, 'workspaceId', d.workspace_id, 'kind', d.kind, 'key', d.key,
        'state', d.state, 'destinations', d.destinations, 'changed', d.changed_in, 'versions', (
          SELECT coalesce(json_agg(json_build_object('version', e.version, 'body', e.body, 'measures', e.measures, 'state', e.state)
            ORDER BY e.version), '[]')
          FROM definition_versions e WHERE e.definition = d.number AND e.state <> 'replaced')) ORDER BY d.number)
      FROM definitions d WHERE d.changed_in > $1) AS definitions
    FROM compute_version v`,
};

export async function definitionsAfter(tx: Tx, after: number): Promise<DefinitionList> {
  const [row] = await tx.query<Row>(AFTER, [after]);
  return { version: row?.version ?? 0, definitions: row?.definitions ?? [] };
}

export async function hasDefinitions(tx: Tx): Promise<boolean> {
  return (await tx.query(`SELECT 1 AS one FROM definitions WHERE state <> 'deleted' LIMIT 1`)).length > 0;
}

/** The first start of a version in a stream is the one that counts. */
export async function startFolding(tx: Tx, stream: string, starts: readonly FoldingStart[]): Promise<void> {
  if (starts.length === 0) return;
  const sql = `INSERT INTO compute_starts (workspace_id, definition, version, stream, stream_created_at, sequence)
    SELECT d.workspace_id, d.number, given.version, $1, given.created_at, given.sequence
    FROM unnest($2::int4[], $3::int4[], $4::int8[], $5::int8[]) AS given (definition, version, created_at, sequence)
    JOIN definitions d ON d.number = given.definition ON CONFLICT DO NOTHING`;
  const column = <Name extends keyof FoldingStart>(name: Name) => starts.map((start) => start[name]);
  await tx.query(sql, [stream, column('definition'), column('version'), column('createdAt'), column('sequence')]);
}

export type FoldingStartRow = { stream: string; createdAt: number; sequence: number };

/** Where each reader began to fold a version; a stream that is missing has a reader that has not heard of it yet. */
export function foldingStarts(tx: Tx, definition: number, version: number): Promise<FoldingStartRow[]> {
  const sql = `SELECT stream, stream_created_at::float8 AS "createdAt", sequence::float8 AS sequence FROM compute_starts
    WHERE definition = $1 AND version = $2 ORDER BY stream, 2`;
  return tx.query(sql, [definition, version]);
}

export async function markIncomplete(tx: Tx, since: number): Promise<void> {
  const sql = `UPDATE definitions SET incomplete_since = least(incomplete_since, to_timestamp($1 / 1000.0))
    WHERE state <> 'deleted' AND (incomplete_since IS NULL OR incomplete_since > to_timestamp($1 / 1000.0))`;
  await tx.query(sql, [since]);
}
