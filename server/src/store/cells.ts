/** The cells of the installation. Control writes them from its settings; the API and the projector read them. */
import { type Cell, MAIN_CELL } from '../domain/configuration.ts';
import type { Tx } from './open-store.ts';
import { oneRow } from './rows.ts';

/** A cell of the database that the settings do not name any more, and that sources are in or on their way to. */
export type CellInUse = { name: string; sources: number };

/**
 * Adds the cells of the settings. A spare that is replaced may have requests: it becomes a former cell of the sources that had it. Returns the
 * cells that must not be missing; then nothing was changed.
 */
export async function registerCells(tx: Tx, cells: readonly Cell[]): Promise<CellInUse[]> {
  const names = cells.map(({ name }) => name);
  const used = `SELECT used AS name, count(DISTINCT s.id)::int AS sources
    FROM sources s, unnest(ARRAY[s.cell, s.next_cell]) used WHERE used <> ALL($1) GROUP BY used ORDER BY used`;
  const missing = await tx.query<CellInUse>(used, [names]);
  if (missing.length > 0) return missing;
  const changed: string[] = [];
  for (const { name, spare = null } of cells) {
    await tx.query(KEEP_SPARE, [name, spare]);
    if ((await tx.query(SET_CELL, [name, spare])).length > 0) changed.push(name);
  }
  if (changed.length > 0) await tx.query(TELL_SPARES, [changed]);
  await seeCells(tx, names);
  return [];
}

/** Every control process says so again and again: two of them may have different settings, during a rollout. */
export async function seeCells(tx: Tx, names: readonly string[]): Promise<void> {
  await tx.query('UPDATE cells SET seen_at = now() WHERE name = ANY($1)', [names]);
}

/**
 * Forgets the cells without sources that no control process named for so long, and returns their names. Such a cell stays a former cell of the
 * sources that were in it: named again, it has their requests, and needs their destinations.
 */
export async function forgetCells(tx: Tx, names: readonly string[], unseenSeconds: number): Promise<string[]> {
  const gone = `DELETE FROM cells c WHERE name <> ALL($1) AND name <> '${MAIN_CELL}'
      AND seen_at < now() - make_interval(secs => $2)
      AND NOT EXISTS (SELECT FROM sources s WHERE c.name IN (s.cell, s.next_cell)) RETURNING name`;
  const forgotten = (await tx.query<{ name: string }>(gone, [names, unseenSeconds])).map(({ name }) => name);
  await tx.query('DELETE FROM outbox WHERE cell = ANY($1)', [forgotten]);
  await tx.query('DELETE FROM projection_failures WHERE cell = ANY($1)', [forgotten]);
  return forgotten;
}

const SET_CELL = `INSERT INTO cells (name, spare) VALUES ($1, $2)
  ON CONFLICT (name) DO UPDATE SET spare = excluded.spare WHERE cells.spare IS DISTINCT FROM excluded.spare RETURNING name`;
/** The bucket of the spare needs the destinations of these cells, and then the sources. A trigger adds the rows of other cells. */
const TELL_SPARES = `INSERT INTO outbox (workspace_id, kind, object_id) SELECT workspace_id, kind, object_id FROM (
    SELECT 1 AS place, d.workspace_id, 'destination' AS kind, d.id AS object_id FROM destinations d
      JOIN sources s ON s.workspace_id = d.workspace_id AND s.id = d.source_id
      WHERE s.cell = ANY($1) OR s.next_cell = ANY($1)
    UNION ALL SELECT 2, workspace_id, 'source', id FROM sources WHERE cell = ANY($1) OR next_cell = ANY($1)) AS told
  ORDER BY place`;
const KEEP_SPARE = `UPDATE sources s SET former_cells = array_append(s.former_cells, c.spare) FROM cells c
  WHERE c.name = $1 AND s.cell = $1 AND c.spare <> coalesce($2, '') AND NOT c.spare = ANY (s.former_cells)`;

export async function cellNames(tx: Tx): Promise<string[]> {
  const sql = 'SELECT name FROM cells ORDER BY name <> $1, name';
  return (await tx.query<{ name: string }>(sql, [MAIN_CELL])).map(({ name }) => name);
}

/** Where new deliveries for a destination are made: the cell of its source. Undefined when it is gone. */
export async function cellOfDestination(tx: Tx, id: string): Promise<string | undefined> {
  const sql = `SELECT s.cell FROM destinations d JOIN sources s ON s.workspace_id = d.workspace_id AND s.id = d.source_id
    WHERE d.id = $1`;
  return (await oneRow<{ cell: string }>(tx, sql, [id]))?.cell;
}
