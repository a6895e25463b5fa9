/**
 * The lifecycle of definitions as the role `compute` works on it. The rows themselves tell how far it is, so another process goes on where
 * one has died; every step is one transaction with its mark.
 *
 *   workspace  reading → ready → clearing
 *   version    preparing (start) → computing (events) → live (scan) → live → replaced
 *   definition preparing → computing → live → deleting → deleted; it is live when the scan of its first version is over
 */
import type { StoredMeasure } from '../../compute/profiles/stored-measure.ts';
import type {
  DefinitionNumber,
  DefinitionState,
  VersionName,
  VersionState,
  WorkspaceState,
} from '../../compute/profiles/profile-store.ts';
import type { Tx } from '../open-store.ts';
import { oneRow } from '../rows.ts';
import { changeDefinitions, moveVersion } from './definitions.ts';

export type LifeJob =
  | { kind: 'workspace'; workspaceId: string; state: WorkspaceState }
  | ({ kind: 'version'; workspaceId: string } & VersionName)
  | { kind: 'deletion'; workspaceId: string; definition: DefinitionNumber }
  | { kind: 'sync'; workspaceId: string; definition: DefinitionNumber; destination: string };

/** Everything that has to be done. A version waits until its workspace is ready, and a sync until the definition has been scanned. */
export async function listJobs(tx: Tx): Promise<LifeJob[]> {
  const sql = `SELECT json_build_object('kind', 'workspace', 'workspaceId', workspace_id, 'state', state) AS job
      FROM compute_workspaces WHERE state <> 'ready'
    UNION ALL
    SELECT json_build_object('kind', 'deletion', 'workspaceId', d.workspace_id, 'definition', d.number) FROM definitions d
      JOIN compute_workspaces w ON w.workspace_id = d.workspace_id WHERE d.state = 'deleting' AND w.state <> 'clearing'
    UNION ALL
    SELECT json_build_object('kind', 'sync', 'workspaceId', s.workspace_id, 'definition', s.definition, 'destination', s.destination)
      FROM definition_syncs s WHERE NOT EXISTS (
        SELECT FROM definition_versions e WHERE e.definition = s.definition AND e.state = 'live' AND e.phase IS NOT NULL)
    UNION ALL
    SELECT * FROM (SELECT json_build_object('kind', 'version', 'workspaceId', e.workspace_id, 'definition', e.definition, 'version', e.version)
      FROM definition_versions e JOIN compute_workspaces w ON w.workspace_id = e.workspace_id
      WHERE e.phase IS NOT NULL AND e.state <> 'replaced' AND w.state = 'ready' ORDER BY e.created_at, e.definition) AS versions`;
  return (await tx.query<{ job: LifeJob }>(sql)).map(({ job }) => job);
}

export type VersionPhase = 'start' | 'events' | 'scan';
export type VersionWork = {
  workspaceId: string;
  definitionState: DefinitionState;
  /** Since which change it is evaluated. */
  revised: number;
  state: VersionState;
  /** Null when there is nothing more to do. */
  phase: VersionPhase | null;
  afterKey: string | null;
  eventsFrom: number | null;
  body: unknown;
  measures: StoredMeasure[];
};

export function readVersionWork(tx: Tx, { definition, version }: VersionName): Promise<VersionWork | undefined> {
  const sql = `SELECT e.workspace_id AS "workspaceId", d.state AS "definitionState", d.revised_in::float8 AS revised, e.state, e.phase,
      replace(e.after_key::text, '-', '') AS "afterKey", e.events_from::float8 AS "eventsFrom", e.body, e.measures
    FROM definition_versions e JOIN definitions d ON d.number = e.definition
    WHERE e.definition = $1 AND e.version = $2 AND e.state <> 'replaced' AND d.state NOT IN ('deleting', 'deleted')`;
  return oneRow(tx, sql, [definition, version]);
}

export type PhaseMark = {
  phase: VersionPhase;
  afterKey?: string | undefined;
  eventsFrom?: number | undefined;
  done: number;
  total: number;
};

/** How far the phase is. False when the version is in another one, or is not wanted any more. */
export async function markPhase(tx: Tx, { definition, version }: VersionName, mark: PhaseMark): Promise<boolean> {
  const { phase, afterKey, eventsFrom, done, total } = mark;
  const sql = `UPDATE definition_versions e SET after_key = coalesce($4::uuid, after_key), events_from = greatest(events_from, $5), done = $6,
      total = $7
    FROM definitions d WHERE e.definition = $1 AND e.version = $2 AND e.phase = $3 AND e.state <> 'replaced'
      AND d.number = e.definition AND d.state NOT IN ('deleting', 'deleted') RETURNING 1 AS one`;
  const values = [definition, version, phase, afterKey ?? null, eventsFrom ?? null, done, total];
  return (await tx.query(sql, values)).length > 0;
}

/** All readers fold it: the stored events from before are next. */
export async function beginComputing(tx: Tx, name: VersionName): Promise<void> {
  await moveVersion(tx, await changeDefinitions(tx), name, 'computing');
  await tx.query(`UPDATE definition_versions SET phase = 'events' WHERE definition = $1 AND version = $2`, [
    name.definition,
    name.version,
  ]);
  await tx.query(`UPDATE definitions SET state = 'computing' WHERE number = $1 AND state = 'preparing'`, [
    name.definition,
  ]);
}

/** From now on it is evaluated. `completeFrom` in milliseconds; undefined when nothing is missing. */
export async function goLive(
  tx: Tx,
  name: VersionName,
  whole: (change: number) => { measures: readonly StoredMeasure[]; completeFrom: number | undefined },
): Promise<void> {
  const change = await changeDefinitions(tx);
  const { measures, completeFrom } = whole(change);
  await moveVersion(tx, change, name, 'live');
  const sql = `UPDATE definition_versions SET phase = 'scan', after_key = NULL, measures = $3 WHERE definition = $1 AND version = $2`;
  await tx.query(sql, [name.definition, name.version, JSON.stringify(measures)]);
  await tx.query('UPDATE definitions SET complete_from = to_timestamp($2::float8 / 1000) WHERE number = $1', [
    name.definition,
    completeFrom ?? null,
  ]);
}

/** Everyone has been evaluated. */
export async function endScan(tx: Tx, { definition, version }: VersionName): Promise<void> {
  const change = await changeDefinitions(tx);
  await tx.query(
    'UPDATE definition_versions SET phase = NULL, after_key = NULL WHERE definition = $1 AND version = $2',
    [definition, version],
  );
  const sql = `UPDATE definitions SET state = 'live', changed_in = $2, updated_at = now()
    WHERE number = $1 AND state IN ('preparing', 'computing')`;
  await tx.query(sql, [definition, change]);
}

/** Whether audiences that a definition asks for are still to be evaluated for the first time. */
export async function areUnready(tx: Tx, workspaceId: string, ids: readonly string[]): Promise<boolean> {
  const sql = `SELECT 1 AS one FROM definitions WHERE workspace_id = $1 AND id = ANY ($2) AND state IN ('preparing', 'computing') LIMIT 1`;
  return ids.length > 0 && (await tx.query(sql, [workspaceId, ids])).length > 0;
}

/** Every source whose events the workspace has had, deleted ones included. */
export async function sourcesEver(tx: Tx, workspaceId: string): Promise<string[]> {
  const sql = `SELECT id FROM sources WHERE workspace_id = $1 AND kind = 'collected'
    UNION SELECT source_id FROM usage WHERE workspace_id = $1 ORDER BY 1`;
  return (await tx.query<{ id: string }>(sql, [workspaceId])).map(({ id }) => id);
}

export type SyncMark = { definition: DefinitionNumber; destination: string };

/** The place of a sync, and the last change of its definition; undefined when it is over. */
export function readSync(
  tx: Tx,
  { definition, destination }: SyncMark,
): Promise<{ afterKey: string | null; changed: number } | undefined> {
  const sql = `SELECT replace(s.after_key::text, '-', '') AS "afterKey", d.changed_in::float8 AS changed
    FROM definition_syncs s JOIN definitions d ON d.number = s.definition WHERE s.definition = $1 AND s.destination = $2 FOR UPDATE OF s`;
  return oneRow(tx, sql, [definition, destination]);
}

/** Without a key it is over. */
export async function moveSync(
  tx: Tx,
  { definition, destination }: SyncMark,
  afterKey: string | undefined,
): Promise<void> {
  const sql =
    afterKey === undefined
      ? 'DELETE FROM definition_syncs WHERE definition = $1 AND destination = $2'
      : 'UPDATE definition_syncs SET after_key = $3 WHERE definition = $1 AND destination = $2';
  await tx.query(sql, [definition, destination, ...(afterKey === undefined ? [] : [afterKey])]);
}
