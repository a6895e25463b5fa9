/** How much of its limits a workspace uses, as far as PostgreSQL knows. Without a workspace, all that the transaction sees. */
import type { Tx } from './open-store.ts';
import { CALL_SLOT_MS } from './slot-counts.ts';

export type CountedName = 'sources' | 'destinations' | 'jobs' | 'callsPerSecond';
export type CountedUse = { workspace_id: string; name: CountedName; used: number };

/** The computed source comes with the first audience, and no one asked for it: it does not count. */
const COUNTS: Readonly<Record<Exclude<CountedName, 'callsPerSecond'>, string>> = {
  sources: `FROM sources WHERE kind <> 'computed'`,
  destinations: 'FROM destinations WHERE true',
  // Deletion requests have a deadline by law, so no limit delays them.
  jobs: `FROM jobs WHERE state IN ('running', 'paused') AND kind IN ('redrive', 'replay')`,
};

export function countUse(tx: Tx, now: Date, workspaceId?: string): Promise<CountedUse[]> {
  const parts = Object.entries(COUNTS).map(
    ([name, from]) =>
      `SELECT workspace_id, '${name}' AS name, count(*)::float8 AS used ${from} AND ${OF_WORKSPACE} GROUP BY 1`,
  );
  // Of the last slot that is over: the counts of the current one are still coming in.
  const calls = `SELECT workspace_id, 'callsPerSecond' AS name, sum(calls)::float8 / $3::float8 AS used FROM call_slots
    WHERE slot = to_timestamp((floor(extract(epoch FROM $2::timestamptz)::float8 / $3::float8) - 1) * $3::float8) AND ${OF_WORKSPACE} GROUP BY 1`;
  return tx.query([...parts, calls].join(' UNION ALL '), [workspaceId ?? null, now, CALL_SLOT_MS / 1_000]);
}

const OF_WORKSPACE = '($1::text IS NULL OR workspace_id = $1)';

/** Of one kind, in the transaction of a change. */
export async function countOne(tx: Tx, name: keyof typeof COUNTS, workspaceId: string): Promise<number> {
  const [row] = await tx.query<{ used: number }>(`SELECT count(*)::int AS used ${COUNTS[name]} AND workspace_id = $1`, [
    workspaceId,
  ]);
  return row?.used ?? 0;
}

export type OriginRow = { workspace_id: string; origin: string };

/**
 * The different beginnings of URLs (scheme, host and port as they were written, with any number of slashes) of the targets of each
 * workspace; with `atLeast`, only of workspaces with that many destinations.
 */
export function targetOrigins(tx: Tx, { workspaceId, atLeast = 0 }: OriginQuestion): Promise<OriginRow[]> {
  const large = 'SELECT workspace_id FROM destinations GROUP BY 1 HAVING count(*) >= $2';
  const sql = `SELECT DISTINCT workspace_id, substring(target ->> 'url' FROM '^[^:]+:/+[^/?#]+') AS origin
    FROM destinations, jsonb_array_elements(CASE jsonb_typeof(settings -> 'targets') WHEN 'array' THEN settings -> 'targets' END) AS target
    WHERE ${OF_WORKSPACE} AND ($2::bigint = 0 OR workspace_id IN (${large})) AND target ->> 'url' LIKE '%://_%'`;
  return tx.query(sql, [workspaceId ?? null, atLeast]);
}

export type OriginQuestion = { workspaceId?: string; atLeast?: number };
