/** The end of a definition, and of the profiles of a workspace without definitions. Portions, each in a transaction. */
import type { DefinitionNumber, WorkspaceState } from '../../compute/profiles/profile-store.ts';
import { type ProfileKey, workspacePrefix } from '../../compute/profiles/profile-key.ts';
import type { Tx } from '../open-store.ts';
import { oneRow } from '../rows.ts';
import { changeDefinitions } from './definitions.ts';

/** Undefined when it is not being deleted. */
export function readDeletion(tx: Tx, definition: DefinitionNumber): Promise<Deletion | undefined> {
  const sql = `SELECT revised_in::float8 AS revised, members_go AS "membersGo" FROM definitions WHERE number = $1 AND state = 'deleting'`;
  return oneRow(tx, sql, [definition]);
}
export type Deletion = { revised: number; membersGo: 'exit' | 'leave' };

export async function someMembers(tx: Tx, definition: DefinitionNumber, limit: number): Promise<ProfileKey[]> {
  const sql = `SELECT replace(profile_key::text, '-', '') AS key FROM memberships WHERE definition = $1 ORDER BY profile_key LIMIT $2`;
  return (await tx.query<{ key: string }>(sql, [definition, limit])).map(({ key }) => key);
}

export async function forgetMembers(tx: Tx, definition: DefinitionNumber, keys: readonly ProfileKey[]): Promise<void> {
  await tx.query('DELETE FROM memberships WHERE definition = $1 AND profile_key = ANY ($2::uuid[])', [
    definition,
    keys,
  ]);
}

/** False at the end. */
export async function forgetUnsent(tx: Tx, definition: DefinitionNumber, limit: number): Promise<boolean> {
  const sql = `DELETE FROM compute_outbox WHERE ctid IN (
      SELECT ctid FROM compute_outbox WHERE definition = $1 AND batch IS NULL LIMIT $2 FOR UPDATE SKIP LOCKED) RETURNING 1 AS one`;
  return (await tx.query(sql, [definition, limit])).length > 0;
}

/** Whether something of it is still to be sent. */
export async function hasUnsent(tx: Tx, definition: DefinitionNumber): Promise<boolean> {
  return (await tx.query('SELECT 1 AS one FROM compute_outbox WHERE definition = $1 LIMIT 1', [definition])).length > 0;
}

/** False at the end. */
export async function forgetHistory(tx: Tx, definition: DefinitionNumber, limit: number): Promise<boolean> {
  const sql = `WITH old AS (SELECT id, written_on FROM membership_changes WHERE definition = $1 ORDER BY id LIMIT $2)
    DELETE FROM membership_changes c USING old WHERE c.definition = $1 AND c.id = old.id AND c.written_on = old.written_on
    RETURNING 1 AS one`;
  return (await tx.query(sql, [definition, limit])).length > 0;
}

/** Its row stays, and those of its versions: neither its key nor its measures' slots are used again. */
export async function endDeletion(tx: Tx, workspaceId: string, definition: DefinitionNumber): Promise<void> {
  const change = await changeDefinitions(tx);
  await tx.query('DELETE FROM membership_sizes WHERE definition = $1', [definition]);
  await tx.query(`UPDATE definition_versions SET state = 'replaced' WHERE definition = $1`, [definition]);
  const others = `SELECT 1 AS one FROM definitions WHERE workspace_id = $1 AND number <> $2 AND state <> 'deleted' LIMIT 1`;
  const isLast = (await tx.query(others, [workspaceId, definition])).length === 0;
  if (isLast) await moveWorkspace(tx, change, workspaceId, 'clearing');
  else
    await tx.query(`UPDATE definitions SET state = 'deleted', changed_in = $2 WHERE number = $1`, [definition, change]);
}

/** Of a workspace that is removed: compute folds no event of it any more, and sends no calls. */
export async function forgetDefinitions(tx: Tx, workspaceId: string): Promise<void> {
  const change = await changeDefinitions(tx);
  await tx.query(
    `UPDATE definition_versions SET state = 'replaced' WHERE definition IN
      (SELECT number FROM definitions WHERE workspace_id = $1)`,
    [workspaceId],
  );
  const sql = `UPDATE definitions SET state = 'deleted', changed_in = $2 WHERE workspace_id = $1`;
  await tx.query(sql, [workspaceId, change]);
}

export async function moveWorkspace(tx: Tx, change: number, workspaceId: string, to: WorkspaceState): Promise<void> {
  await tx.query('UPDATE compute_workspaces SET state = $2, changed_in = $3 WHERE workspace_id = $1', [
    workspaceId,
    to,
    change,
  ]);
  await tx.query('UPDATE definitions SET changed_in = $2 WHERE workspace_id = $1', [workspaceId, change]);
}

/** Deletes some profiles of a workspace; false when there are no more. */
export async function clearProfiles(tx: Tx, workspaceId: string, limit: number): Promise<boolean> {
  const prefix = workspacePrefix(workspaceId);
  const sql = `WITH gone AS (
      DELETE FROM profiles WHERE profile_key IN (
        SELECT profile_key FROM profiles WHERE profile_key BETWEEN $1 AND $2 ORDER BY profile_key LIMIT $3)
      RETURNING profile_key, due_at),
    timers AS (
      DELETE FROM profile_timers t USING gone WHERE t.due_at = gone.due_at AND t.profile_key = gone.profile_key)
    SELECT count(*)::int AS gone FROM gone`;
  const [row] = await tx.query<{ gone: number }>(sql, [prefix.padEnd(32, '0'), prefix.padEnd(32, 'f'), limit]);
  return (row?.gone ?? 0) > 0;
}

/** The last definition is deleted. If another one was made meanwhile, the workspace begins again. */
export async function endClearing(tx: Tx, workspaceId: string): Promise<void> {
  const change = await changeDefinitions(tx);
  await tx.query('DELETE FROM profile_counts WHERE workspace_id = $1', [workspaceId]);
  await tx.query(
    `UPDATE definitions SET state = 'deleted', changed_in = $2 WHERE workspace_id = $1 AND state = 'deleting' AND NOT EXISTS (
      SELECT FROM definition_versions e WHERE e.definition = number AND e.state <> 'replaced')`,
    [workspaceId, change],
  );
  await tx.query('DELETE FROM compute_workspaces WHERE workspace_id = $1', [workspaceId]);
  await tx.query(
    `INSERT INTO compute_workspaces (workspace_id, changed_in)
    SELECT DISTINCT workspace_id, $2::bigint FROM definitions WHERE workspace_id = $1 AND state <> 'deleted'`,
    [workspaceId, change],
  );
  await tx.query('UPDATE definitions SET changed_in = $2 WHERE workspace_id = $1', [workspaceId, change]);
}

export type WorkspaceWork = {
  state: WorkspaceState;
  changed: number;
  /** The last message of each stream that has been folded. */
  readThrough: Record<string, { sequence: number; storedAt: number }>;
  completeFrom: number | null;
};

export function readWorkspaceWork(tx: Tx, workspaceId: string): Promise<WorkspaceWork | undefined> {
  const sql = `SELECT state, changed_in::float8 AS changed, read_through AS "readThrough", complete_from::float8 AS "completeFrom"
    FROM compute_workspaces WHERE workspace_id = $1`;
  return oneRow(tx, sql, [workspaceId]);
}

export type ReadMark = { stream: string; sequence: number; storedAt: number; completeFrom: number | undefined };

/** How far the past of a workspace is folded. */
export async function markRead(tx: Tx, workspaceId: string, mark: ReadMark): Promise<void> {
  const { stream, sequence, storedAt, completeFrom } = mark;
  const sql = `UPDATE compute_workspaces SET read_through = read_through || jsonb_build_object($2::text, $3::jsonb),
      complete_from = greatest(complete_from, $4) WHERE workspace_id = $1`;
  await tx.query(sql, [workspaceId, stream, JSON.stringify({ sequence, storedAt }), completeFrom ?? null]);
}
