/**
 * The way of a source to a cell. A source is in its `cell`, where collect stores its requests, or on its way to its `next_cell`. A request to
 * move it sets `next_cell`. The projector of that cell lets it arrive when its bucket has the source with all its destinations: only then
 * do the buckets of all cells name the new one. A new source is on its way to its own cell, and no cell takes its requests before.
 */
import type { Tx } from './open-store.ts';
import { hasRepairsWaiting } from './outbox.ts';
import type { SourceRow } from './sources.ts';

/**
 * Another cell than the one before may have the destinations by now: it stays one of the former cells, and keeps them. A new source has no
 * requests anywhere, and changes its cell at once.
 */
export async function moveSource(tx: Tx, { workspace_id: workspaceId, id }: SourceRow, cell: string): Promise<void> {
  const sql = `UPDATE sources s SET updated_at = now(),
      cell = CASE WHEN s.next_cell = s.cell THEN $3 ELSE s.cell END,
      next_cell = CASE WHEN s.cell = $3 AND s.next_cell IS DISTINCT FROM s.cell THEN NULL ELSE $3 END,
      former_cells = ARRAY(SELECT DISTINCT former
        FROM unnest(s.former_cells || s.next_cell || (SELECT n.spare FROM cells n WHERE n.name = s.next_cell)) former
        WHERE former <> $3 AND (former <> s.cell OR s.next_cell = s.cell) ORDER BY former)
    WHERE s.workspace_id = $1 AND s.id = $2`;
  await tx.query(sql, [workspaceId, id, cell]);
}

/** Some may be on their way for long: the cell is away, or its bucket is full. */
export const SOURCES_ON_THEIR_WAY = 'EXISTS (SELECT FROM sources WHERE next_cell IS NOT NULL)';
const AT_ONCE = 1_000;

/** Nothing of the source waits for the bucket of the cell $1, nor was refused there. */
const IS_KNOWN = `NOT EXISTS (SELECT FROM (SELECT s.id, 'source' AS kind UNION ALL
      SELECT d.id, 'destination' FROM destinations d WHERE d.workspace_id = s.workspace_id AND d.source_id = s.id) part
    WHERE EXISTS (SELECT FROM outbox o WHERE o.object_id = part.id AND o.cell = $1)
      OR EXISTS (SELECT FROM projection_failures f WHERE f.kind = part.kind AND f.object_id = part.id AND f.cell = $1))`;

/**
 * Lets the sources arrive that the bucket of this cell knows, and tells the buckets of all cells. Returns their number. While repairs wait,
 * the bucket may be a new one, without the marks of users whose calls must not be sent.
 */
export async function arriveSources(tx: Tx, cell: string): Promise<number> {
  if (await hasRepairsWaiting(tx, cell)) return 0;
  // While a source is locked, no destination can be attached that the second look would miss.
  const lock = `SELECT s.id FROM sources s WHERE s.next_cell = $1 AND ${IS_KNOWN}
    ORDER BY s.id LIMIT ${AT_ONCE} FOR UPDATE SKIP LOCKED`;
  const ids = (await tx.query<{ id: string }>(lock, [cell])).map(({ id }) => id);
  if (ids.length === 0) return 0;
  const arrive = `WITH arrived AS (
      UPDATE sources s SET cell = $1, next_cell = NULL, former_cells = ARRAY(SELECT DISTINCT former
          FROM unnest(s.former_cells || CASE WHEN s.cell <> $1 THEN ARRAY[s.cell, c.spare] END) former
          WHERE former <> $1 ORDER BY former)
        FROM cells c WHERE c.name = s.cell AND s.id = ANY($2) AND s.next_cell = $1 AND ${IS_KNOWN}
        RETURNING s.workspace_id, s.id)
    INSERT INTO outbox (workspace_id, kind, object_id)
      SELECT workspace_id, 'source', id FROM arrived RETURNING object_id`;
  return (await tx.query(arrive, [cell, ids])).length;
}
