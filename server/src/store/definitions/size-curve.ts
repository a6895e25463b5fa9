/** How large each definition was, by the minute: a row only where the size has changed. */
import type { Tx } from '../open-store.ts';

/** Any number of processes may do it: the first of a minute counts. */
export async function noteSizes(tx: Tx): Promise<void> {
  await tx.query(`INSERT INTO membership_curve (workspace_id, definition, at, members)
    SELECT s.workspace_id, s.definition, date_trunc('minute', now()), s.members
    FROM (SELECT workspace_id, definition, greatest(0, sum(members)) AS members FROM membership_sizes GROUP BY 1, 2) s
    LEFT JOIN LATERAL (SELECT members FROM membership_curve c WHERE c.definition = s.definition ORDER BY at DESC LIMIT 1) last ON true
    WHERE last.members IS DISTINCT FROM s.members ON CONFLICT DO NOTHING`);
}

/** Days as the API can show them: by the minute for two, then the last of each hour for thirty. */
export async function thinCurves(tx: Tx): Promise<void> {
  await tx.query(`DELETE FROM membership_curve c WHERE at < now() - interval '31 days'
    OR at < now() - interval '2 days' AND EXISTS (SELECT FROM membership_curve later WHERE later.definition = c.definition
      AND later.at > c.at AND later.at < date_trunc('hour', c.at) + interval '1 hour')`);
}

export type CurveRange = { from: Date; stepSeconds: number };
type SizePoint = { at: Date; size: number };

/** The last size of each step, oldest first. The first point is the size at `from`, if it was known then. */
export function sizeCurve(tx: Tx, definition: number, { from, stepSeconds }: CurveRange): Promise<SizePoint[]> {
  const sql = `(SELECT $2::timestamptz AS at, members::float8 AS size FROM membership_curve
      WHERE definition = $1 AND at <= $2 ORDER BY membership_curve.at DESC LIMIT 1)
    UNION ALL
    SELECT at, members::float8 FROM (
      SELECT DISTINCT ON (floor(extract(epoch FROM at) / $3)) at, members FROM membership_curve
      WHERE definition = $1 AND at > $2 ORDER BY floor(extract(epoch FROM at) / $3), at DESC) AS steps
    ORDER BY at`;
  return tx.query(sql, [definition, from, stepSeconds]);
}
