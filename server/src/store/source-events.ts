import type { Tx } from './open-store.ts';
import type { Page } from './rows.ts';

export type SourceEventRow = { name: string; blocked: boolean; first_seen_at: Date | null; last_seen_at: Date | null };

type SourceOf = { workspaceId: string; sourceId: string };

export function listSourceEvents(
  tx: Tx,
  { workspaceId, sourceId }: SourceOf,
  { limit, after }: Page,
): Promise<SourceEventRow[]> {
  const sql = `SELECT name, blocked, first_seen_at, last_seen_at FROM source_events
    WHERE workspace_id = $1 AND source_id = $2 AND name > $3 ORDER BY name LIMIT $4`;
  return tx.query(sql, [workspaceId, sourceId, after ?? '', limit]);
}

/** Those with these names, and all that are blocked. A name with a NUL is in no row. */
export function sourceEventsNamed(
  tx: Tx,
  { workspaceId, sourceId }: SourceOf,
  names: readonly string[],
): Promise<SourceEventRow[]> {
  const sql = `SELECT name, blocked, first_seen_at, last_seen_at FROM source_events
    WHERE workspace_id = $1 AND source_id = $2 AND (blocked OR name = ANY($3)) ORDER BY name`;
  const possible = names.filter((name) => !name.includes('\u0000'));
  return tx.query(sql, [workspaceId, sourceId, possible]);
}

/** A name can be blocked before it was ever seen. */
export async function setEventBlocked(
  tx: Tx,
  { workspaceId, sourceId }: SourceOf,
  event: { name: string; blocked: boolean },
): Promise<void> {
  const sql = `INSERT INTO source_events (workspace_id, source_id, name, blocked) VALUES ($1, $2, $3, $4)
    ON CONFLICT (workspace_id, source_id, name) DO UPDATE SET blocked = $4`;
  await tx.query(sql, [workspaceId, sourceId, event.name, event.blocked]);
}

export async function blockedEvents(tx: Tx, { workspaceId, sourceId }: SourceOf): Promise<string[]> {
  const sql = 'SELECT name FROM source_events WHERE workspace_id = $1 AND source_id = $2 AND blocked ORDER BY name';
  return (await tx.query<{ name: string }>(sql, [workspaceId, sourceId])).map((row) => row.name);
}

/** A client with a write key can make up names, so the number of names of a source is bounded. */
const MAX_NAMES = 10_000;

/** A name that PostgreSQL cannot store (with a NUL) is left out; a source deleted meanwhile takes its names with it. */
export async function noteEventsSeen(
  tx: Tx,
  { workspaceId, sourceId }: SourceOf,
  { names, at }: { names: string[]; at: string },
): Promise<void> {
  const sql = `INSERT INTO source_events (workspace_id, source_id, name, first_seen_at, last_seen_at)
    SELECT s.workspace_id, s.id, seen.name, $4::timestamptz, $4::timestamptz
    FROM sources s CROSS JOIN unnest($3::text[]) AS seen (name)
    WHERE s.workspace_id = $1 AND s.id = $2
      AND (SELECT count(*) FROM source_events WHERE workspace_id = $1 AND source_id = $2) < ${MAX_NAMES}
    ON CONFLICT (workspace_id, source_id, name) DO UPDATE
      SET last_seen_at = excluded.last_seen_at,
          first_seen_at = coalesce(source_events.first_seen_at, excluded.first_seen_at)`;
  const storable = names.filter((name) => !name.includes('\u0000'));
  if (storable.length > 0) await tx.query(sql, [workspaceId, sourceId, storable, at]);
}
