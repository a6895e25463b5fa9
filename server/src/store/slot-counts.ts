/** Sums for the home screen, a few rows for each workspace and slot of time. Slots begin at whole multiples of their length since 1970. */
import type { CountRow } from './delivery-counts.ts';
import type { Tx } from './open-store.ts';

export const OUTCOME_SLOT_MS = 600_000;
export const CALL_SLOT_MS = 300_000;
export const DEPTH_SLOT_MS = 600_000;

/** The beginning of the slot that a time falls into. */
export function slotOf(at: number, slotMs: number): Date {
  return new Date(at - (at % slotMs));
}

/** The same counts as in delivery_counts, without destination and error class. */
export async function addOutcomeSlots(tx: Tx, counts: readonly CountRow[]): Promise<void> {
  const sql = `INSERT INTO outcome_slots AS s (workspace_id, slot, outcome, count)
    SELECT workspace_id, date_bin($2, minute, 'epoch'), outcome, sum(count) FROM json_to_recordset($1)
      AS given (workspace_id text, minute timestamptz, outcome text, count bigint)
    GROUP BY 1, 2, 3 ORDER BY 1, 2, 3
    ON CONFLICT (workspace_id, slot, outcome) DO UPDATE SET count = s.count + excluded.count`;
  if (counts.length > 0) await tx.query(sql, [JSON.stringify(counts), `${OUTCOME_SLOT_MS} milliseconds`]);
}

export type SlotSum = { at: Date; outcome: string; error_class: string; count: string };

/** In the form of the larger sums, with no error class. */
export function sumOutcomeSlots(
  tx: Tx,
  { workspaceId, from, stepSeconds }: { workspaceId: string; from: Date; stepSeconds: number },
): Promise<SlotSum[]> {
  const sql = `SELECT date_bin(make_interval(secs => $3), slot, 'epoch') AS at, outcome, '' AS error_class, sum(count) AS count
    FROM outcome_slots WHERE workspace_id = $1 AND slot >= $2 GROUP BY 1, 2 ORDER BY 1, 2`;
  return tx.query(sql, [workspaceId, from, stepSeconds]);
}

export type CallSlot = { sourceId: string; slot: Date; calls: number };

/** Leaves out the calls of sources that were deleted meanwhile. */
export async function addCallSlots(tx: Tx, slots: readonly CallSlot[]): Promise<void> {
  const sql = `INSERT INTO call_slots AS c (workspace_id, slot, source_id, calls)
    SELECT s.workspace_id, given.slot, s.id, given.calls
    FROM unnest($1::text[], $2::timestamptz[], $3::bigint[]) AS given (source_id, slot, calls)
    JOIN sources s ON s.id = given.source_id ORDER BY 1, 2, 3
    ON CONFLICT (workspace_id, slot, source_id) DO UPDATE SET calls = c.calls + excluded.calls`;
  const column = <Name extends keyof CallSlot>(name: Name) => slots.map((slot) => slot[name]);
  if (slots.length > 0) await tx.query(sql, [column('sourceId'), column('slot'), column('calls')]);
}

/** A span of time: from its beginning on, and before its end. */
export type Span = { from: Date; to: Date };

export async function callsIn(tx: Tx, workspaceId: string, { from, to }: Span): Promise<number> {
  const sql = `SELECT coalesce(sum(calls), 0)::text AS calls FROM call_slots
    WHERE workspace_id = $1 AND slot >= $2 AND slot < $3`;
  const [row] = await tx.query<{ calls: string }>(sql, [workspaceId, from, to]);
  return Number(row?.calls ?? 0);
}

/** A key in use is reported a few seconds after the call. */
const SLACK_MS = 60_000;

/**
 * Whether calls came after all that is counted: the count of a workspace is behind after control was away, while collect
 * reports write keys in use at once. Looks at nothing before `from`.
 */
export async function isCountBehind(tx: Tx, workspaceId: string, from: Date): Promise<boolean> {
  const sql = `SELECT (SELECT max(last_used_at) FROM write_keys WHERE workspace_id = $1 AND last_used_at >= $2) >
      coalesce((SELECT max(slot) + $3::interval FROM call_slots WHERE workspace_id = $1 AND slot >= $2), $2) + $4::interval AS behind`;
  const [row] = await tx.query<{ behind: boolean | null }>(sql, [
    workspaceId,
    from,
    `${CALL_SLOT_MS} milliseconds`,
    `${SLACK_MS} milliseconds`,
  ]);
  return row?.behind ?? false;
}

export type QuietSource = { id: string; name: string; calls: string; last_used_at: Date | null };

/**
 * Enabled sources that sent at least so many calls in the span `before`, and none in the span `now`. The counts of `now` may be
 * behind, so a write key that was used then speaks against it.
 */
export function quietSources(
  tx: Tx,
  workspaceId: string,
  { now, before, fewest, most }: { now: Span; before: Span; fewest: number; most: number },
): Promise<QuietSource[]> {
  // Each span is one range of the primary key, whatever PostgreSQL believes of the table.
  const spanned = (from: string, to: string, columns: string) =>
    `SELECT source_id, ${columns} FROM call_slots WHERE workspace_id = $1 AND slot >= ${from} AND slot < ${to}`;
  const sql = `SELECT s.id, s.name, quiet.calls::text,
      (SELECT max(k.last_used_at) FROM write_keys k WHERE k.workspace_id = $1 AND k.source_id = s.id) AS last_used_at
    FROM (SELECT source_id, sum(calls) AS calls FROM (
        ${spanned('$2', '$3', 'calls, 0 AS calls_now')} UNION ALL ${spanned('$4', '$5', '0, calls')}) AS both_spans
      GROUP BY source_id HAVING sum(calls) >= $6 AND sum(calls_now) = 0) AS quiet
      JOIN sources s ON s.workspace_id = $1 AND s.id = quiet.source_id AND s.enabled
    WHERE NOT EXISTS (SELECT FROM write_keys k WHERE k.workspace_id = $1 AND k.source_id = s.id AND k.last_used_at >= $4)
    ORDER BY quiet.calls DESC, s.id LIMIT $7`;
  return tx.query(sql, [workspaceId, before.from, before.to, now.from, now.to, fewest, most]);
}

export type DepthSlot = { workspaceId: string; destinationId: string; depth: number };

/** The largest depth that any process told of stays. Only of destinations that still exist. */
export async function addDepthSlots(tx: Tx, slot: Date, depths: readonly DepthSlot[]): Promise<void> {
  const sql = `INSERT INTO depth_slots AS d (workspace_id, destination_id, slot, depth)
    SELECT e.workspace_id, e.id, $1, given.depth FROM unnest($2::text[], $3::bigint[]) AS given (destination_id, depth)
    JOIN destinations e ON e.id = given.destination_id ORDER BY 1, 2
    ON CONFLICT (workspace_id, destination_id, slot) DO UPDATE SET depth = greatest(d.depth, excluded.depth)`;
  if (depths.length === 0) return;
  await tx.query(sql, [slot, depths.map(({ destinationId }) => destinationId), depths.map(({ depth }) => depth)]);
}

export type DepthSum = { at: Date; depth: string };

export type DepthQuestion = { workspaceId: string; destinationId: string; stepSeconds: number } & Span;

/** The largest depth in each step. */
export function largestDepths(tx: Tx, asked: DepthQuestion): Promise<DepthSum[]> {
  const sql = `SELECT date_bin(make_interval(secs => $5), slot, 'epoch') AS at, max(depth)::text AS depth FROM depth_slots
    WHERE workspace_id = $1 AND destination_id = $2 AND slot >= $3 AND slot < $4 GROUP BY 1 ORDER BY 1`;
  const { workspaceId, destinationId, from, to, stepSeconds } = asked;
  return tx.query(sql, [workspaceId, destinationId, from, to, stepSeconds]);
}

export async function forgetOldSlots(tx: Tx, before: Date): Promise<void> {
  for (const table of ['outcome_slots', 'call_slots', 'depth_slots']) {
    await tx.query(`DELETE FROM ${table} WHERE slot < $1`, [before]);
  }
}
