import type { Tx } from './open-store.ts';
import { readInOrder } from './rows.ts';

export type Projected = { kind: 'source' | 'destination' | 'user'; workspaceId: string; objectId: string };
export type OutboxRow = { id: string; workspace_id: string; kind: Projected['kind']; object_id: string };

/** Runs in the transaction of the change. It stores which object changed; the projector reads the row when it projects. */
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

/** Limits of a workspace travel in the entries of its sources. */
export async function addSourcesToOutbox(tx: Tx, workspaceId: string): Promise<void> {
  const sql = `INSERT INTO outbox (workspace_id, kind, object_id)
    SELECT workspace_id, 'source', id FROM sources WHERE workspace_id = $1`;
  await tx.query(sql, [workspaceId]);
}

/** Entries of the bucket that may differ from their rows, to be looked at again. */
export async function addRepairsToOutbox(tx: Tx, repairs: readonly Projected[]): Promise<void> {
  const sql = `INSERT INTO outbox (workspace_id, kind, object_id, is_repair)
    SELECT *, true FROM unnest($1::text[], $2::text[], $3::text[])`;
  await tx.query(sql, [
    repairs.map((each) => each.workspaceId),
    repairs.map((each) => each.kind),
    repairs.map((each) => each.objectId),
  ]);
}

/** While repairs wait, another comparison would find the same ones. */
export async function hasRepairsWaiting(tx: Tx): Promise<boolean> {
  return (await tx.query('SELECT 1 AS one FROM outbox WHERE is_repair LIMIT 1')).length > 0;
}

/** The oldest changes, then the oldest repairs. Only under the projector's lock: see lockProjection. */
export async function takeFromOutbox(tx: Tx, limit: number): Promise<OutboxRow[]> {
  await readInOrder(tx);
  return tx.query('SELECT id, workspace_id, kind, object_id FROM outbox ORDER BY is_repair, id LIMIT $1', [limit]);
}

export async function deleteFromOutbox(tx: Tx, ids: string[]): Promise<void> {
  await tx.query('DELETE FROM outbox WHERE id = ANY($1)', [ids]);
}

/** The projector's lock: one transaction of all control processes may write the bucket at a time, until it ends. */
export async function lockProjection(tx: Tx): Promise<boolean> {
  const [row] = await tx.query<{ locked: boolean }>(
    `SELECT pg_try_advisory_xact_lock(hashtextextended('projection', 0)) AS locked`,
  );
  return row?.locked === true;
}
