/** Definitions as people change them. Every change begins with `changeDefinitions`. */
import type { DefinitionKind, DefinitionState, VersionState } from '../../compute/profiles/profile-store.ts';
import type { Tx } from '../open-store.ts';
import { oneRow, type Page, readInOrder } from '../rows.ts';

export type DefinitionRow = {
  workspace_id: string;
  id: string;
  number: number;
  kind: DefinitionKind;
  key: string;
  name: string;
  destinations: string[];
  state: DefinitionState;
  complete_from: Date | null;
  incomplete_since: Date | null;
  created_at: Date;
  updated_at: Date;
};

const COLUMNS = `workspace_id, id, number, kind, key, name, destinations, state, complete_from, incomplete_since, created_at, updated_at`;

/** The number of this change. Other changes wait until the transaction ends, and readers do not see it before. */
export async function changeDefinitions(tx: Tx): Promise<number> {
  const [row] = await tx.query<{ version: number }>(
    'UPDATE compute_version SET version = version + 1 RETURNING version::float8 AS version',
  );
  if (row === undefined) throw new Error('compute_version has no row');
  return row.version;
}

export type NewDefinition = Pick<DefinitionRow, 'workspace_id' | 'id' | 'kind' | 'key' | 'name' | 'destinations'>;

/** Undefined when the key is, or was, that of another definition. The first one of a workspace makes compute keep profiles of it. */
export async function insertDefinition(
  tx: Tx,
  change: number,
  definition: NewDefinition,
): Promise<DefinitionRow | undefined> {
  await tx.query('INSERT INTO compute_workspaces (workspace_id, changed_in) VALUES ($1, $2) ON CONFLICT DO NOTHING', [
    definition.workspace_id,
    change,
  ]);
  const sql = `INSERT INTO definitions (workspace_id, id, kind, key, name, destinations, changed_in, was_told)
    VALUES ($1, $2, $3, $4, $5, $6, $7, cardinality($6::text[]) > 0) ON CONFLICT (workspace_id, key) DO NOTHING RETURNING ${COLUMNS}`;
  const { workspace_id, id, kind, key, name, destinations } = definition;
  return oneRow(tx, sql, [workspace_id, id, kind, key, name, destinations, change]);
}

export function findDefinition(tx: Tx, workspaceId: string, id: string): Promise<DefinitionRow | undefined> {
  const sql = `SELECT ${COLUMNS} FROM definitions WHERE workspace_id = $1 AND id = $2 AND state <> 'deleted'`;
  return oneRow(tx, sql, [workspaceId, id]);
}

/** Oldest first, audiences before traits; of one kind, if that is given. */
export async function listDefinitions(
  tx: Tx,
  workspaceId: string,
  { limit, after }: Page,
  kind?: DefinitionKind,
): Promise<DefinitionRow[]> {
  await readInOrder(tx);
  const sql = `SELECT ${COLUMNS} FROM definitions
    WHERE workspace_id = $1 AND state <> 'deleted' AND id > $2 AND ($4::text IS NULL OR kind = $4) ORDER BY id LIMIT $3`;
  return tx.query(sql, [workspaceId, after ?? '', limit, kind ?? null]);
}

export type DefinitionName = { workspaceId: string; id: string };
export type DefinitionChange = Partial<Pick<DefinitionRow, 'name' | 'destinations' | 'state' | 'complete_from'>>;

/** A destination that is attached to a definition is told its members, and one that is taken out no more of them. */
export async function updateDefinition(
  tx: Tx,
  change: number,
  { workspaceId, id }: DefinitionName,
  { name, destinations, state, complete_from: completeFrom }: DefinitionChange,
): Promise<DefinitionRow | undefined> {
  if (destinations !== undefined) await changeSyncs(tx, { workspaceId, id }, destinations);
  const sql = `UPDATE definitions SET name = coalesce($4, name), destinations = coalesce($5, destinations), state = coalesce($6, state),
      was_told = was_told OR cardinality(coalesce($5, destinations)) > 0,
      complete_from = CASE WHEN $7 THEN $8 ELSE complete_from END, changed_in = $3, updated_at = now()
    WHERE workspace_id = $1 AND id = $2 AND state <> 'deleted' RETURNING ${COLUMNS}`;
  const isCompleteFromGiven = completeFrom !== undefined;
  const given = [name ?? null, destinations ?? null, state ?? null, isCompleteFromGiven, completeFrom ?? null];
  return oneRow(tx, sql, [workspaceId, id, change, ...given]);
}

export type VersionRow = { version: number; body: unknown; measures: unknown; state: VersionState; created_at: Date };
export type NewVersion = { workspaceId: string; definition: number; body: unknown; measures: unknown };

/** The version that it became. */
export async function insertVersion(tx: Tx, change: number, { workspaceId, definition, body, measures }: NewVersion) {
  await touch(tx, change, definition);
  const sql = `INSERT INTO definition_versions (workspace_id, definition, version, body, measures)
    SELECT $1, $2, coalesce(max(version), 0) + 1, $3, $4 FROM definition_versions WHERE definition = $2 RETURNING version`;
  const values = [workspaceId, definition, JSON.stringify(body), JSON.stringify(measures)];
  const [row] = await tx.query<{ version: number }>(sql, values);
  if (row === undefined) throw new Error('an insert gave no row');
  return row.version;
}

export type VersionName = { definition: number; version: number };

/** A version that becomes live replaces the older ones; from this change on it is evaluated. */
export async function moveVersion(tx: Tx, change: number, { definition, version }: VersionName, to: VersionState) {
  await touch(tx, change, definition);
  const sql = `UPDATE definition_versions SET state = $3, phase = CASE WHEN $3 = 'live' THEN NULL ELSE phase END
    WHERE definition = $1 AND version = $2`;
  await tx.query(sql, [definition, version, to]);
  if (to !== 'live') return;
  await tx.query(`UPDATE definition_versions SET state = 'replaced' WHERE definition = $1 AND version < $2`, [
    definition,
    version,
  ]);
  await tx.query('UPDATE definitions SET revised_in = $1 WHERE number = $2', [change, definition]);
  await tx.query(
    `UPDATE compute_workspaces w SET state = 'ready' FROM definitions d
    WHERE d.number = $1 AND w.workspace_id = d.workspace_id AND w.state = 'reading'`,
    [definition],
  );
}

/** Newest first. */
export function listVersions(tx: Tx, definition: number): Promise<VersionRow[]> {
  const sql = `SELECT version, body, measures, state, created_at FROM definition_versions WHERE definition = $1 ORDER BY version DESC`;
  return tx.query(sql, [definition]);
}

/** One more than the greatest number that any measure of the workspace ever had in states. Only after `changeDefinitions`. */
export async function nextMeasureSlot(tx: Tx, workspaceId: string): Promise<number> {
  const sql = `SELECT coalesce(max((measure->>'slot')::int) + 1, 0) AS slot
    FROM definition_versions, jsonb_array_elements(measures) AS measure WHERE workspace_id = $1`;
  const [row] = await tx.query<{ slot: number }>(sql, [workspaceId]);
  return row?.slot ?? 0;
}

/** Those that were attached before it was evaluated are told with all others. */
async function changeSyncs(tx: Tx, { workspaceId, id }: DefinitionName, destinations: readonly string[]) {
  const attached = `INSERT INTO definition_syncs (workspace_id, definition, destination)
    SELECT d.workspace_id, d.number, given.destination FROM definitions d, unnest($3::text[]) AS given (destination)
    WHERE d.workspace_id = $1 AND d.id = $2 AND d.state IN ('computing', 'live') AND given.destination <> ALL (d.destinations)
    ON CONFLICT (definition, destination) DO UPDATE SET after_key = NULL`;
  await tx.query(attached, [workspaceId, id, destinations]);
  const syncs = `DELETE FROM definition_syncs s USING definitions d
    WHERE d.workspace_id = $1 AND d.id = $2 AND s.definition = d.number AND s.destination <> ALL ($3::text[])`;
  await tx.query(syncs, [workspaceId, id, destinations]);
  const waiting = `DELETE FROM compute_outbox o USING definitions d
    WHERE d.workspace_id = $1 AND d.id = $2 AND o.definition = d.number AND o.is_first_sync AND o.batch IS NULL
      AND o.destination <> '' AND o.destination <> ALL ($3::text[])`;
  await tx.query(waiting, [workspaceId, id, destinations]);
}

async function touch(tx: Tx, change: number, definition: number): Promise<void> {
  await tx.query('UPDATE definitions SET changed_in = $1, updated_at = now() WHERE number = $2', [change, definition]);
}
