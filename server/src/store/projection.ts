/** The projector reads here: sources and destinations of all workspaces, whole, by id or page by page. */
import { MAIN_CELL } from '../domain/configuration.ts';
import { DESTINATION_COLUMNS, type DestinationRow } from './destinations.ts';
import type { Tx } from './open-store.ts';
import { type Page, readInOrder } from './rows.ts';
import type { SourceKind } from './sources.ts';

export type ProjectedSource = {
  workspace_id: string;
  id: string;
  kind: SourceKind;
  name: string;
  enabled: boolean;
  rate_limit_per_second: number | null;
  /** SHA-256 in hex, of the keys that still work. */
  key_hashes: string[];
  blocked_events: string[];
  /** The limits of its workspace that collect and deliver enforce; null when the operator changed none of them. */
  limits: Record<string, number> | null;
  cell: string;
  spare: string | null;
  /** Where it is on its way to, and the spare of that: see arrivals.ts. */
  next_cell: string | null;
  next_spare: string | null;
  /** Where it was before, and may still have requests. */
  former_cells: string[];
};
/** `is_here`: whether the cell that was asked for may have deliveries for it. */
export type ProjectedDestination = DestinationRow & { is_here: boolean };

const SOURCES = `SELECT s.workspace_id, s.id, s.kind, s.name,
    s.enabled AND NOT EXISTS (SELECT FROM workspace_ends e WHERE e.workspace_id = s.workspace_id) AS enabled, s.rate_limit_per_second,
    ARRAY(SELECT encode(k.key_hash, 'hex') FROM write_keys k
      WHERE k.workspace_id = s.workspace_id AND k.source_id = s.id AND k.revoked_at IS NULL
      ORDER BY k.created_at, k.id) AS key_hashes,
    ARRAY(SELECT e.name FROM source_events e
      WHERE e.workspace_id = s.workspace_id AND e.source_id = s.id AND e.blocked ORDER BY e.name) AS blocked_events,
    (SELECT jsonb_object_agg(l.name, l.most) FROM workspace_limits l
      WHERE l.workspace_id = s.workspace_id AND l.name = ANY('{callsPerSecond,laneBytes,deadLetterBytes}')) AS limits,
    s.cell, (SELECT c.spare FROM cells c WHERE c.name = s.cell) AS spare, s.former_cells,
    s.next_cell, (SELECT c.spare FROM cells c WHERE c.name = s.next_cell) AS next_spare
  FROM sources s`;

/** In a workspace that comes to its end, sources take no calls, and destinations wait as paused ones do. */
const PAUSED = `coalesce(paused_at, (SELECT e.asked_at FROM workspace_ends e
  WHERE e.workspace_id = destinations.workspace_id)) AS paused_at`;
/** Calls of the computed source go to destinations of all sources. $1 is the cell. */
const IS_HERE = `EXISTS (SELECT FROM sources s JOIN cells c ON c.name = s.cell LEFT JOIN cells n ON n.name = s.next_cell
  WHERE s.workspace_id = destinations.workspace_id AND (s.id = destinations.source_id OR s.kind = 'computed')
    AND ($1 IN (s.cell, c.spare, s.next_cell, n.spare) OR $1 = ANY (s.former_cells))) AS is_here`;
const DESTINATIONS = `SELECT ${DESTINATION_COLUMNS.replace('paused_at', PAUSED)}, ${IS_HERE} FROM destinations`;

export function sourcesToProject(tx: Tx, ids: readonly string[]): Promise<ProjectedSource[]> {
  return ids.length === 0 ? Promise.resolve([]) : tx.query(`${SOURCES} WHERE s.id = ANY($1)`, [ids]);
}

export function destinationsToProject(
  tx: Tx,
  ids: readonly string[],
  cell = MAIN_CELL,
): Promise<ProjectedDestination[]> {
  return ids.length === 0 ? Promise.resolve([]) : tx.query(`${DESTINATIONS} WHERE id = ANY($2)`, [cell, ids]);
}

export async function pageOfSources(tx: Tx, { limit, after }: Page): Promise<ProjectedSource[]> {
  await readInOrder(tx);
  return tx.query(`${SOURCES} WHERE s.id > $1 ORDER BY s.id LIMIT $2`, [after ?? '', limit]);
}

export async function pageOfDestinations(
  tx: Tx,
  { limit, after }: Page,
  cell = MAIN_CELL,
): Promise<ProjectedDestination[]> {
  await readInOrder(tx);
  return tx.query(`${DESTINATIONS} WHERE id > $2 ORDER BY id LIMIT $3`, [cell, after ?? '', limit]);
}
