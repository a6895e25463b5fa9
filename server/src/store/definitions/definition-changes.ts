/** Definitions as readers see them. */
import type {
  DefinitionList,
  FoldingStarts,
  StartPlace,
  StoredDefinition,
} from '../../compute/profiles/profile-store.ts';
import type { Statement, Tx } from '../open-store.ts';

type Row = { version: number; definitions: StoredDefinition[] | null };

/** Version and definitions in one statement, so that no change comes between. */
const AFTER: Statement = {
  name: 'definitions-after',
  text: `SELECT v.version::float8 AS version, (
      SELECT json_agg(json_build_object('number', d.number, 'id', d.id, 'workspaceId', d.workspace_id, 'kind', d.kind, 'key', d.key,
        'state', d.state, 'membersGo', d.members_go, 'isTold', d.was_told OR d.destinations <> '{}', 'changed', d.changed_in, 'revised', d.revised_in,
        'workspaceState', coalesce(w.state, 'ready'), 'versions', (
          SELECT coalesce(json_agg(json_build_object('version', e.version, 'body', e.body, 'measures', e.measures, 'state', e.state)
            ORDER BY e.version), '[]')
          FROM definition_versions e WHERE e.definition = d.number AND e.state <> 'replaced')) ORDER BY d.number)
      FROM definitions d LEFT JOIN compute_workspaces w ON w.workspace_id = d.workspace_id WHERE d.changed_in > $1) AS definitions
    FROM compute_version v`,
};

export async function definitionsAfter(tx: Tx, after: number): Promise<DefinitionList> {
  const [row] = await tx.query<Row>(AFTER, [after]);
  return { version: row?.version ?? 0, definitions: row?.definitions ?? [] };
}

export const HAS_DEFINITIONS = `EXISTS (SELECT FROM definitions WHERE state <> 'deleted')`;

/** Whether a workspace has its profiles: the lifecycle has read its past, and its readers count every event since then. */
export async function hasReadyWorkspaces(tx: Tx): Promise<boolean> {
  return (await tx.query(`SELECT 1 AS one FROM compute_workspaces WHERE state = 'ready' LIMIT 1`)).length > 0;
}

export type DefinitionCounts = { all: number; incomplete: number };

export async function countDefinitions(tx: Tx): Promise<DefinitionCounts> {
  const sql = `SELECT count(*)::int AS "all", count(incomplete_since)::int AS incomplete FROM definitions WHERE state <> 'deleted'`;
  const [row] = await tx.query<DefinitionCounts>(sql);
  return row ?? { all: 0, incomplete: 0 };
}

/** The first start of a version in a stream is the one that counts, also when the stream is made anew. */
export async function startFolding(
  tx: Tx,
  stream: string,
  { version, place, ...starts }: FoldingStarts,
): Promise<void> {
  const { createdAt, sequence, storedAt, left } = place;
  const at = [stream, createdAt, sequence, storedAt, left];
  if (starts.versions.length > 0) {
    const sql = `INSERT INTO compute_starts (stream, stream_created_at, sequence, stored_at, left_sequences, workspace_id, definition, version)
      SELECT $1, $2::int8, $3::int8, $4::int8, $5::int8[], d.workspace_id, d.number, given.version
      FROM unnest($6::int4[], $7::int4[]) AS given (definition, version)
      JOIN definitions d ON d.number = given.definition WHERE NOT EXISTS (SELECT FROM compute_starts s
        WHERE s.definition = given.definition AND s.version = given.version AND s.stream = $1) ON CONFLICT DO NOTHING`;
    const column = (name: 'definition' | 'version') => starts.versions.map((each) => each[name]);
    await tx.query(sql, [...at, column('definition'), column('version')]);
  }
  if (starts.workspaces.length > 0) {
    const sql = `INSERT INTO workspace_starts (stream, stream_created_at, sequence, stored_at, left_sequences, workspace_id)
      SELECT $1, $2::int8, $3::int8, $4::int8, $5::int8[], workspace_id FROM compute_workspaces w WHERE workspace_id = ANY ($6)
        AND NOT EXISTS (SELECT FROM workspace_starts s WHERE s.workspace_id = w.workspace_id AND s.stream = $1)
      ON CONFLICT DO NOTHING`;
    await tx.query(sql, [...at, starts.workspaces]);
  }
  await tx.query('UPDATE compute_positions SET definitions_version = $2 WHERE stream = $1', [stream, version]);
}

export type FoldingStartRow = StartPlace & { stream: string };

const START_COLUMNS = `stream, stream_created_at::float8 AS "createdAt", sequence::float8 AS sequence, stored_at::float8 AS "storedAt",
  left_sequences::float8[] AS left`;

/** Where each reader began to fold a version; a stream that is missing has a reader that has not heard of it yet. */
export function foldingStarts(tx: Tx, definition: number, version: number): Promise<FoldingStartRow[]> {
  const sql = `SELECT ${START_COLUMNS} FROM compute_starts WHERE definition = $1 AND version = $2 ORDER BY 1, 2`;
  return tx.query(sql, [definition, version]);
}

/** Where each reader began to fold the events of a workspace. */
export function workspaceStarts(tx: Tx, workspaceId: string): Promise<FoldingStartRow[]> {
  return tx.query(`SELECT ${START_COLUMNS} FROM workspace_starts WHERE workspace_id = $1 ORDER BY 1, 2`, [workspaceId]);
}

export async function markIncomplete(tx: Tx, since: number): Promise<void> {
  const sql = `UPDATE definitions SET incomplete_since = least(incomplete_since, to_timestamp($1 / 1000.0))
    WHERE state <> 'deleted' AND (incomplete_since IS NULL OR incomplete_since > to_timestamp($1 / 1000.0))`;
  await tx.query(sql, [since]);
}
