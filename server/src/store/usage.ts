import type { Tx } from './open-store.ts';
import { oneRow } from './rows.ts';

export type UsageRow = { source_id: string; calls: string; suppressed: string };
export type CallCount = { sourceId: string; month: string; calls: number };

/** The last request of a stream that is counted. Without the times, a process of an earlier version has written it. */
export type UsagePosition = {
  sequence: number;
  /** When the stream was made, and when NATS stored that request, in milliseconds. */
  times?: { createdAt: number; storedAt: number } | undefined;
};

type PositionRow = { sequence: string; place: { createdAt: number; sequence: number; storedAt: number } | null };

/** How far a stream has been counted, without a lock. */
export function readUsagePosition(tx: Tx, stream: string): Promise<UsagePosition> {
  return findPosition(tx, 'SELECT sequence, place FROM usage_positions WHERE stream = $1', stream);
}

/** The same. Locked until the transaction ends. */
export async function lockUsagePosition(tx: Tx, stream: string): Promise<UsagePosition> {
  await tx.query('INSERT INTO usage_positions (stream, sequence) VALUES ($1, 0) ON CONFLICT DO NOTHING', [stream]);
  return findPosition(tx, 'SELECT sequence, place FROM usage_positions WHERE stream = $1 FOR UPDATE', stream);
}

async function findPosition(tx: Tx, sql: string, stream: string): Promise<UsagePosition> {
  const row = await oneRow<PositionRow>(tx, sql, [stream]);
  const sequence = Number(row?.sequence ?? 0);
  const place = row?.place ?? undefined;
  if (place?.sequence !== sequence) return { sequence };
  return { sequence, times: { createdAt: place.createdAt, storedAt: place.storedAt } };
}

export async function setUsagePosition(tx: Tx, stream: string, { sequence, times }: UsagePosition): Promise<void> {
  const place = times === undefined ? null : JSON.stringify({ ...times, sequence });
  await tx.query('UPDATE usage_positions SET sequence = $2, place = $3 WHERE stream = $1', [stream, sequence, place]);
}

export function isSamePosition(one: UsagePosition, other: UsagePosition): boolean {
  return (
    one.sequence === other.sequence &&
    one.times?.createdAt === other.times?.createdAt &&
    one.times?.storedAt === other.times?.storedAt
  );
}

/** Calls of a source that was deleted meanwhile are dropped. */
export async function addUsage(tx: Tx, counts: readonly CallCount[]): Promise<void> {
  const sql = `INSERT INTO usage (workspace_id, source_id, month, calls)
    SELECT s.workspace_id, s.id, given.month, given.calls
    FROM unnest($1::text[], $2::date[], $3::bigint[]) AS given (source_id, month, calls)
    JOIN sources s ON s.id = given.source_id ORDER BY 1, 2, 3
    ON CONFLICT (workspace_id, source_id, month) DO UPDATE SET calls = usage.calls + excluded.calls`;
  const column = <Name extends keyof CallCount>(name: Name) => counts.map((count) => count[name]);
  if (counts.length > 0) await tx.query(sql, [column('sourceId'), column('month'), column('calls')]);
}

/** Counts stored calls and calls that collect dropped because their user is suppressed: both are usage. */
export function usageOfMonth(tx: Tx, workspaceId: string, month: string): Promise<UsageRow[]> {
  const sql = `SELECT source_id, sum(stored + dropped)::text AS calls, sum(dropped)::text AS suppressed FROM (
      SELECT source_id, calls AS stored, 0 AS dropped FROM usage WHERE workspace_id = $1 AND month = $2
      UNION ALL
      SELECT source_id, 0, count FROM suppressed_calls
        WHERE workspace_id = $1 AND day >= $2::date AND day < $2::date + interval '1 month'
    ) AS counted GROUP BY source_id ORDER BY source_id`;
  return tx.query(sql, [workspaceId, month]);
}
