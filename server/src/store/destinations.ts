import type { FilterRule } from '@millrace/contract';
import type { Tx } from './open-store.ts';
import { oneRow, type Page, readInOrder } from './rows.ts';

type PausedBy = { kind: string; id: string; at: string };

export type DestinationRow = {
  workspace_id: string;
  id: string;
  source_id: string;
  catalog: string;
  name: string;
  enabled: boolean;
  /** Since when nothing is sent; null when it is not paused. */
  paused_at: Date | null;
  /** The user or token that paused it at `at`; null when that is unknown. */
  paused_by: PausedBy | null;
  /** The end of the last pause; null when there was none. */
  resumed_at: Date | null;
  /** The rules that an event must pass to reach it. */
  filters: FilterRule[];
  /** Defined by the catalog entry's schema; secret values are sealed. */
  settings: Record<string, unknown>;
  created_at: Date;
  updated_at: Date;
};

type Begun = Omit<DestinationRow, 'paused_at' | 'paused_by' | 'resumed_at' | 'filters' | 'created_at' | 'updated_at'>;
export type NewDestination = Begun & Partial<Pick<DestinationRow, 'filters'>>;

export const DESTINATION_COLUMNS = `workspace_id, id, source_id, catalog, name, enabled, paused_at, paused_by, resumed_at, filters,
  settings, created_at, updated_at`;

export async function insertDestination(tx: Tx, row: NewDestination): Promise<void> {
  const sql = `INSERT INTO destinations (workspace_id, id, source_id, catalog, name, enabled, filters, settings)
    VALUES ($1, $2, $3, $4, $5, $6, $7, $8)`;
  const { workspace_id, id, source_id, catalog, name, enabled, filters = [], settings } = row;
  await tx.query(sql, [workspace_id, id, source_id, catalog, name, enabled, JSON.stringify(filters), settings]);
}

export function findDestination(tx: Tx, workspaceId: string, id: string): Promise<DestinationRow | undefined> {
  return oneRow(tx, `SELECT ${DESTINATION_COLUMNS} FROM destinations WHERE workspace_id = $1 AND id = $2`, [
    workspaceId,
    id,
  ]);
}

/** For a change: two concurrent ones would otherwise undo each other. */
export function lockDestination(tx: Tx, workspaceId: string, id: string): Promise<DestinationRow | undefined> {
  const sql = `SELECT ${DESTINATION_COLUMNS} FROM destinations WHERE workspace_id = $1 AND id = $2 FOR UPDATE`;
  return oneRow(tx, sql, [workspaceId, id]);
}

/** Of a workspace, by id. */
export async function allDestinationIds(tx: Tx, workspaceId: string): Promise<string[]> {
  const sql = 'SELECT id FROM destinations WHERE workspace_id = $1 ORDER BY id';
  return (await tx.query<{ id: string }>(sql, [workspaceId])).map(({ id }) => id);
}

/** The workspace of each of these destinations that the transaction sees. */
export function destinationOwners(tx: Tx, ids: readonly string[]): Promise<{ id: string; workspace_id: string }[]> {
  if (ids.length === 0) return Promise.resolve([]);
  return tx.query('SELECT id, workspace_id FROM destinations WHERE id = ANY($1)', [ids]);
}

export type DestinationPlace = { id: string; source_id: string; enabled: boolean };

/** The destinations of these sources, and those that a definition sends to, whatever their source is. */
export function destinationPlaces(tx: Tx, workspaceId: string, sourceIds: string[]): Promise<DestinationPlace[]> {
  const sql = `SELECT id, source_id, enabled FROM destinations WHERE workspace_id = $1 AND (source_id = ANY($2)
      OR id IN (SELECT unnest(destinations) FROM definitions WHERE workspace_id = $1)) ORDER BY id`;
  return tx.query(sql, [workspaceId, sourceIds]);
}

export async function countDestinations(tx: Tx, workspaceId: string, sourceId: string): Promise<number> {
  const sql = 'SELECT count(*)::int AS count FROM destinations WHERE workspace_id = $1 AND source_id = $2';
  return (await oneRow<{ count: number }>(tx, sql, [workspaceId, sourceId]))?.count ?? 0;
}

export type DestinationFilter = { workspaceId: string; sourceId: string | undefined };

export async function listDestinations(
  tx: Tx,
  { workspaceId, sourceId }: DestinationFilter,
  { limit, after }: Page,
): Promise<DestinationRow[]> {
  await readInOrder(tx);
  const sql = `SELECT ${DESTINATION_COLUMNS} FROM destinations
    WHERE workspace_id = $1 AND ($2::text IS NULL OR source_id = $2) AND id > $3 ORDER BY id LIMIT $4`;
  return tx.query(sql, [workspaceId, sourceId ?? null, after ?? '', limit]);
}

export type DestinationChange = Omit<DestinationRow, 'source_id' | 'catalog' | 'created_at' | 'updated_at'>;

export async function updateDestination(tx: Tx, row: DestinationChange): Promise<void> {
  const sql = `UPDATE destinations SET name = $3, enabled = $4, paused_at = $5, resumed_at = $6, filters = $7, settings = $8,
      paused_by = $9, updated_at = now()
    WHERE workspace_id = $1 AND id = $2`;
  const { workspace_id, id, name, enabled, paused_at, paused_by, resumed_at, filters, settings } = row;
  const values = [workspace_id, id, name, enabled, paused_at, resumed_at, JSON.stringify(filters), settings, paused_by];
  await tx.query(sql, values);
}

export async function deleteDestination(tx: Tx, workspaceId: string, id: string): Promise<DestinationRow | undefined> {
  return oneRow(tx, `DELETE FROM destinations WHERE workspace_id = $1 AND id = $2 RETURNING ${DESTINATION_COLUMNS}`, [
    workspaceId,
    id,
  ]);
}

/** Names of those that are still there, by id. */
export async function destinationNames(tx: Tx, workspaceId: string, ids: string[]): Promise<Map<string, string>> {
  const sql = 'SELECT id, name FROM destinations WHERE workspace_id = $1 AND id = ANY($2)';
  const rows = ids.length === 0 ? [] : await tx.query<{ id: string; name: string }>(sql, [workspaceId, ids]);
  return new Map(rows.map(({ id, name }) => [id, name]));
}

export type DestinationWay = { id: string; name: string; source_id: string };

/** Every destination with each source whose events may reach it: its own, and that of computed calls. */
export function destinationWays(tx: Tx, workspaceId: string): Promise<DestinationWay[]> {
  const sql = `SELECT d.id, d.name, s.id AS source_id FROM destinations d
    JOIN sources s ON s.workspace_id = $1 AND (s.id = d.source_id OR s.kind = 'computed') WHERE d.workspace_id = $1`;
  return tx.query(sql, [workspaceId]);
}

export type DestinationBrief = Pick<
  DestinationRow,
  'id' | 'source_id' | 'name' | 'enabled' | 'paused_at' | 'resumed_at'
>;

/** Those of the workspace among these ids, without their settings. */
export async function destinationBriefs(
  tx: Tx,
  workspaceId: string,
  ids: readonly string[],
): Promise<Map<string, DestinationBrief>> {
  const sql = `SELECT id, source_id, name, enabled, paused_at, resumed_at FROM destinations
    WHERE workspace_id = $1 AND id = ANY($2)`;
  const rows = ids.length === 0 ? [] : await tx.query<DestinationBrief>(sql, [workspaceId, ids]);
  return new Map(rows.map((row) => [row.id, row]));
}

export function pausedDestinations(
  tx: Tx,
  workspaceId: string,
  { besides, most }: { besides: readonly string[]; most: number },
): Promise<DestinationBrief[]> {
  const sql = `SELECT id, source_id, name, enabled, paused_at, resumed_at FROM destinations
    WHERE workspace_id = $1 AND paused_at IS NOT NULL AND id <> ALL($2) ORDER BY paused_at, id LIMIT $3`;
  return tx.query(sql, [workspaceId, besides, most]);
}
