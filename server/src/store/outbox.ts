import { MAIN_CELL } from '../domain/configuration.ts';
import type { Tx } from './open-store.ts';
import { readInOrder } from './rows.ts';

export type Projected = { kind: 'source' | 'destination' | 'user'; workspaceId: string; objectId: string };
export type OutboxRow = {
  id: string;
  workspace_id: string;
  kind: Projected['kind'];
  object_id: string;
  is_repair: boolean;
};

/**
 * Runs in the transaction of the change. It stores which object changed; the projector reads the row when it projects. A trigger adds
 * a row for each cell beside `main`.
 */
export async function addToOutbox(tx: Tx, { kind, workspaceId, objectId }: Projected): Promise<void> {
  await tx.query('INSERT INTO outbox (workspace_id, kind, object_id) VALUES ($1, $2, $3)', [
    workspaceId,
    kind,
    objectId,
  ]);
}

/** Before a source is deleted: its destinations go with it, and each of them is an entry of its own in the bucket. */
export async function addDestinationsToOutbox(tx: Tx, workspaceId: string, sourceId: string): Promise<void> {
  const sql = `INSERT INTO outbox (workspace_id, kind, object_id)
    SELECT workspace_id, 'destination', id FROM destinations WHERE workspace_id = $1 AND source_id = $2`;
  await tx.query(sql, [workspaceId, sourceId]);
}

/** The calls of a computed source come from `main`, for destinations of sources in any cell. */
export async function addOutsideToOutbox(tx: Tx, workspaceId: string): Promise<void> {
  const sql = `INSERT INTO outbox (workspace_id, kind, object_id) SELECT d.workspace_id, 'destination', d.id
    FROM destinations d JOIN sources s ON s.workspace_id = d.workspace_id AND s.id = d.source_id
    WHERE d.workspace_id = $1 AND s.cell <> $2`;
  await tx.query(sql, [workspaceId, MAIN_CELL]);
}

/** Limits of a workspace travel in the entries of its sources. */
export async function addSourcesToOutbox(tx: Tx, workspaceId: string): Promise<void> {
  const sql = `INSERT INTO outbox (workspace_id, kind, object_id)
    SELECT workspace_id, 'source', id FROM sources WHERE workspace_id = $1`;
  await tx.query(sql, [workspaceId]);
}

/** Entries of the bucket that may differ from their rows, to be looked at again: those of one cell, or of all. */
export async function addRepairsToOutbox(tx: Tx, repairs: readonly Projected[], cell?: string): Promise<void> {
  const sql = `INSERT INTO outbox (workspace_id, kind, object_id, is_repair, cell)
    SELECT r.*, true, c.name FROM unnest($1::text[], $2::text[], $3::text[]) r, cells c
    WHERE $4::text IS NULL OR c.name = $4`;
  await tx.query(sql, [
    repairs.map((each) => each.workspaceId),
    repairs.map((each) => each.kind),
    repairs.map((each) => each.objectId),
    cell ?? null,
  ]);
}

/** While repairs wait, another comparison would find the same ones. */
export async function hasRepairsWaiting(tx: Tx, cell = MAIN_CELL): Promise<boolean> {
  return (await tx.query('SELECT 1 AS one FROM outbox WHERE cell = $1 AND is_repair LIMIT 1', [cell])).length > 0;
}

/** Whether a projector has something to do, that of any cell. */
export const OUTBOX_WAITS = 'EXISTS (SELECT FROM outbox)';

/** The oldest changes, then the oldest repairs. Only under the projector's lock: see lockProjection. */
export async function takeFromOutbox(tx: Tx, limit: number, cell = MAIN_CELL): Promise<OutboxRow[]> {
  await readInOrder(tx);
  const sql = `SELECT id, workspace_id, kind, object_id, is_repair FROM outbox
    WHERE cell = $2 ORDER BY is_repair, id LIMIT $1`;
  return tx.query(sql, [limit, cell]);
}

/** All that wait for destinations of these sources. */
export function takeDestinationsOf(tx: Tx, sourceIds: readonly string[], cell: string): Promise<OutboxRow[]> {
  const sql = `SELECT o.id, o.workspace_id, o.kind, o.object_id, o.is_repair FROM outbox o
    JOIN destinations d ON d.workspace_id = o.workspace_id AND d.id = o.object_id
    WHERE o.cell = $1 AND o.kind = 'destination' AND d.source_id = ANY($2)`;
  return tx.query(sql, [cell, sourceIds]);
}

export async function deleteFromOutbox(tx: Tx, ids: string[]): Promise<void> {
  await tx.query('DELETE FROM outbox WHERE id = ANY($1)', [ids]);
}

/** The projector's lock: one transaction of all control processes may write the bucket of a cell at a time, until it ends. */
export async function lockProjection(tx: Tx, cell = MAIN_CELL): Promise<boolean> {
  const [row] = await tx.query<{ locked: boolean }>(
    'SELECT pg_try_advisory_xact_lock(hashtextextended($1, 0)) AS locked',
    [cell === MAIN_CELL ? 'projection' : `projection of ${cell}`],
  );
  return row?.locked === true;
}
