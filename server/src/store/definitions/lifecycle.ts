/** The lifecycle of definitions as people ask for it and see it. The role `compute` does the work: see life-jobs.ts. */
import type { StoredMeasure } from '../../compute/profiles/stored-measure.ts';
import { workspacePrefix } from '../../compute/profiles/profile-key.ts';
import type { VersionState } from '../../compute/profiles/profile-store.ts';
import type { Tx } from '../open-store.ts';
import { type DefinitionName, type DefinitionRow, findDefinition } from './definitions.ts';

export type MembersLeaving = 'exit' | 'leave';

/** Begins to delete it. `exit`: its members are told that they leave. `leave`: nothing is sent from now on. */
export async function deleteDefinition(
  tx: Tx,
  change: number,
  { workspaceId, id }: DefinitionName,
  members: MembersLeaving,
): Promise<DefinitionRow | undefined> {
  const sql = `UPDATE definitions SET state = 'deleting', members_go = $4, changed_in = $3, revised_in = $3, updated_at = now()
    WHERE workspace_id = $1 AND id = $2 AND state NOT IN ('deleting', 'deleted') RETURNING number`;
  const [row] = await tx.query<{ number: number }>(sql, [workspaceId, id, change, members]);
  if (row === undefined) return findDefinition(tx, workspaceId, id);
  const versions = `UPDATE definition_versions SET phase = NULL, after_key = NULL, state = CASE state WHEN 'live' THEN 'live' ELSE 'replaced' END
    WHERE definition = $1`;
  await tx.query(versions, [row.number]);
  await tx.query('DELETE FROM definition_syncs WHERE definition = $1', [row.number]);
  return findDefinition(tx, workspaceId, id);
}

/** These destinations are told all members again, with the sequences and ids that they were told before. */
export async function askResync(
  tx: Tx,
  _change: number,
  { workspaceId, id }: DefinitionName,
  destinations: readonly string[],
): Promise<void> {
  const sql = `INSERT INTO definition_syncs (workspace_id, definition, destination)
    SELECT d.workspace_id, d.number, given.destination FROM definitions d, unnest($3::text[]) AS given (destination)
    WHERE d.workspace_id = $1 AND d.id = $2 AND d.state IN ('computing', 'live')
    ON CONFLICT (definition, destination) DO UPDATE SET after_key = NULL`;
  await tx.query(sql, [workspaceId, id, destinations]);
}

/** Measures that a new version can share: those of live versions. One that is not live has no past yet. */
export async function measuresInUse(tx: Tx, workspaceId: string): Promise<StoredMeasure[]> {
  const sql = `SELECT e.measures FROM definition_versions e JOIN definitions d ON d.number = e.definition
    WHERE d.workspace_id = $1 AND d.state IN ('computing', 'live') AND e.state = 'live' ORDER BY e.definition`;
  const rows = await tx.query<{ measures: StoredMeasure[] }>(sql, [workspaceId]);
  return rows.flatMap(({ measures }) => measures.map((measure) => ({ past: {}, ...measure })));
}

export type VersionProgress = { version: number; state: VersionState; done: number; total: number };

/** Of the definitions for which something is under way, by number: of the version that is not ready yet. */
export async function readProgress(tx: Tx, workspaceId: string): Promise<Map<number, VersionProgress>> {
  const sql = `SELECT e.definition, e.version, e.state, e.done::float8 AS done, e.total::float8 AS total
    FROM definition_versions e JOIN definitions d ON d.number = e.definition
    WHERE d.workspace_id = $1 AND d.state <> 'deleted' AND e.state <> 'replaced' AND e.phase IS NOT NULL ORDER BY e.definition, e.version`;
  const rows = await tx.query<VersionProgress & { definition: number }>(sql, [workspaceId]);
  return new Map(rows.map(({ definition, ...progress }) => [definition, progress]));
}

/** Beyond it nothing is counted: there can be as many as users, and everyone who looks at the list counts them. */
export const MOST_WAITING = 50_000;

/** Identifies of first syncs that have not been sent yet, by definition number; `MOST_WAITING` of a workspace in all. */
export async function firstSyncsWaiting(tx: Tx, workspaceId: string): Promise<Map<number, number>> {
  const prefix = workspacePrefix(workspaceId);
  // The bounds stand here too: row-level security alone would read the rows of all workspaces.
  const sql = `SELECT definition, count(*)::int AS waiting FROM (
      SELECT definition FROM compute_outbox WHERE is_first_sync AND profile_key BETWEEN $1 AND $2 LIMIT $3) AS counted GROUP BY 1`;
  const values = [prefix.padEnd(32, '0'), prefix.padEnd(32, 'f'), MOST_WAITING];
  const rows = await tx.query<{ definition: number; waiting: number }>(sql, values);
  return new Map(rows.map(({ definition, waiting }) => [definition, waiting]));
}
