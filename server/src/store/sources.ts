import { MAIN_CELL } from '../domain/configuration.ts';
import type { Tx } from './open-store.ts';
import { oneRow, type Page, readInOrder } from './rows.ts';

/** Calls of a `collected` source come from clients; those of the `computed` one are made by Millrace, and it has no write key. */
export type SourceKind = 'collected' | 'computed';

export type SourceRow = {
  workspace_id: string;
  id: string;
  kind: SourceKind;
  name: string;
  enabled: boolean;
  rate_limit_per_second: number | null;
  cell: string;
  /** Where it is on its way to: see arrivals.ts. */
  next_cell: string | null;
  /** Where it was before, and may still have requests. */
  former_cells: string[];
  created_at: Date;
  updated_at: Date;
};

export type SourceChange = {
  name?: string | undefined;
  enabled?: boolean | undefined;
  rateLimitPerSecond?: number | null | undefined;
  cell?: string | undefined;
};

const COLUMNS =
  'workspace_id, id, kind, name, enabled, rate_limit_per_second, cell, next_cell, former_cells, created_at, updated_at';

export type NewSource = { workspaceId: string; id: string; name: string; cell?: string | undefined };

/** Where there are several cells, it has to arrive in its own: see arrivals.ts. */
export async function insertSource(tx: Tx, { workspaceId, id, name, cell = MAIN_CELL }: NewSource): Promise<void> {
  const sql = `INSERT INTO sources (workspace_id, id, name, cell, next_cell)
    VALUES ($1, $2, $3, $4::text, CASE WHEN (SELECT count(*) FROM cells) > 1 THEN $4::text END)`;
  await tx.query(sql, [workspaceId, id, name, cell]);
}

/** A workspace has one, from its first definition on. Undefined when another request made it at the same time. */
export async function insertComputedSource(tx: Tx, workspaceId: string, id: string): Promise<SourceRow | undefined> {
  const sql = `INSERT INTO sources (workspace_id, id, kind, name) VALUES ($1, $2, 'computed', $3)
    ON CONFLICT (workspace_id) WHERE kind = 'computed' DO NOTHING RETURNING ${COLUMNS}`;
  return oneRow(tx, sql, [workspaceId, id, COMPUTED_NAME]);
}

const COMPUTED_NAME = 'Audiences and computed traits';

export type SourceOwner = { id: string; workspace_id: string; kind: SourceKind };

/** Of those that exist. */
export function sourceOwners(tx: Tx, ids: readonly string[]): Promise<SourceOwner[]> {
  return tx.query('SELECT id, workspace_id, kind FROM sources WHERE id = ANY($1)', [ids]);
}

export function findComputedSource(tx: Tx, workspaceId: string): Promise<SourceRow | undefined> {
  return oneRow(tx, `SELECT ${COLUMNS} FROM sources WHERE workspace_id = $1 AND kind = 'computed'`, [workspaceId]);
}

export function findSource(tx: Tx, workspaceId: string, id: string): Promise<SourceRow | undefined> {
  return oneRow(tx, `SELECT ${COLUMNS} FROM sources WHERE workspace_id = $1 AND id = $2`, [workspaceId, id]);
}

/** No destination can be attached to it while the transaction lasts. */
export function lockSource(tx: Tx, workspaceId: string, id: string): Promise<SourceRow | undefined> {
  return oneRow(tx, `SELECT ${COLUMNS} FROM sources WHERE workspace_id = $1 AND id = $2 FOR UPDATE`, [workspaceId, id]);
}

export async function listSources(tx: Tx, workspaceId: string, { limit, after }: Page): Promise<SourceRow[]> {
  await readInOrder(tx);
  const sql = `SELECT ${COLUMNS} FROM sources WHERE workspace_id = $1 AND id > $2 ORDER BY id LIMIT $3`;
  return tx.query(sql, [workspaceId, after ?? '', limit]);
}

/** Undefined fields stay as they are. */
export async function updateSource(tx: Tx, before: SourceRow, change: SourceChange): Promise<void> {
  const limit = change.rateLimitPerSecond === undefined ? before.rate_limit_per_second : change.rateLimitPerSecond;
  const sql = `UPDATE sources SET name = $3, enabled = $4, rate_limit_per_second = $5, updated_at = now()
    WHERE workspace_id = $1 AND id = $2`;
  const { workspace_id: workspaceId, id } = before;
  await tx.query(sql, [workspaceId, id, change.name ?? before.name, change.enabled ?? before.enabled, limit]);
}

export async function deleteSource(tx: Tx, workspaceId: string, id: string): Promise<boolean> {
  const rows = await tx.query('DELETE FROM sources WHERE workspace_id = $1 AND id = $2 RETURNING id', [
    workspaceId,
    id,
  ]);
  return rows.length > 0;
}

/** Names of those that are still there, by id. */
export async function sourceNames(tx: Tx, workspaceId: string, ids: string[]): Promise<Map<string, string>> {
  const sql = 'SELECT id, name FROM sources WHERE workspace_id = $1 AND id = ANY($2)';
  const rows = ids.length === 0 ? [] : await tx.query<{ id: string; name: string }>(sql, [workspaceId, ids]);
  return new Map(rows.map(({ id, name }) => [id, name]));
}

export async function allSourceIds(tx: Tx, workspaceId: string): Promise<string[]> {
  const sql = 'SELECT id FROM sources WHERE workspace_id = $1 ORDER BY id';
  return (await tx.query<{ id: string }>(sql, [workspaceId])).map(({ id }) => id);
}

/** Those whose calls come from clients. */
export async function collectedSourceIds(tx: Tx, workspaceId: string): Promise<string[]> {
  const sql = `SELECT id FROM sources WHERE workspace_id = $1 AND kind = 'collected' ORDER BY id`;
  return (await tx.query<{ id: string }>(sql, [workspaceId])).map(({ id }) => id);
}
