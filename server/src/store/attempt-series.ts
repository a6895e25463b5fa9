/** Recorded attempts over time and by target, from bounded samples of them. */
import type { Tx } from './open-store.ts';
import { readInOrder } from './rows.ts';
import type { Span } from './slot-counts.ts';

type Of = { workspaceId: string; destinationId: string };

export type LatencyStep = { at: Date; attempts: number; p50: number; p95: number; p99: number };

/** The latest attempts of each step, so many of each: a busy hour does not hide the others. */
export async function latencySteps(
  tx: Tx,
  { workspaceId, destinationId }: Of,
  { from, to, stepSeconds, mostOfAStep }: Span & { stepSeconds: number; mostOfAStep: number },
): Promise<LatencyStep[]> {
  await readInOrder(tx);
  const sql = `SELECT step.at, count(*)::int AS attempts,
      percentile_cont(0.5) WITHIN GROUP (ORDER BY total_ms) AS p50,
      percentile_cont(0.95) WITHIN GROUP (ORDER BY total_ms) AS p95,
      percentile_cont(0.99) WITHIN GROUP (ORDER BY total_ms) AS p99
    FROM generate_series(date_bin(make_interval(secs => $5), $3::timestamptz, 'epoch'), $4::timestamptz,
        make_interval(secs => $5)) AS step (at),
      LATERAL (SELECT total_ms FROM attempts WHERE workspace_id = $1 AND destination_id = $2
        AND at >= greatest(step.at, $3::timestamptz) AND at < least(step.at + make_interval(secs => $5), $4::timestamptz)
        ORDER BY at DESC LIMIT $6) AS latest
    GROUP BY step.at ORDER BY step.at`;
  return tx.query(sql, [workspaceId, destinationId, from, to, stepSeconds, mostOfAStep]);
}

export type TargetAnswers = {
  url: string;
  /** Empty for good answers. */
  error_class: string;
  posts: number;
  first_at: Date;
  last_at: Date;
  sentence: string;
  delivery_id: string;
};
export type LatestAnswers = { attempts: number; oldest_at: Date | null; answers: TargetAnswers[] };

/** The answers in the latest attempts, by target and error class. Bodies stay in the database. */
export async function latestAnswers(
  tx: Tx,
  { workspaceId, destinationId }: Of,
  { since, most }: { since: Date; most: number },
): Promise<LatestAnswers> {
  await readInOrder(tx);
  const latest = `SELECT delivery_id, at, answers FROM attempts
    WHERE workspace_id = $1 AND destination_id = $2 AND at >= $3 ORDER BY at DESC LIMIT $4`;
  const values = [workspaceId, destinationId, since, most];
  const looked = `SELECT count(*)::int AS attempts, min(at) AS oldest_at FROM (${latest}) AS latest`;
  const [row] = await tx.query<{ attempts: number; oldest_at: Date | null }>(looked, values);
  const sql = `SELECT url, error_class, count(*)::int AS posts, min(at) AS first_at, max(at) AS last_at,
      (array_agg(sentence ORDER BY at DESC))[1] AS sentence, (array_agg(delivery_id ORDER BY at DESC))[1] AS delivery_id
    FROM (${latest}) AS latest, LATERAL (SELECT answer->>'url' AS url,
        CASE WHEN answer->>'status' LIKE '2__' THEN ''
          ELSE coalesce(answer->>'errorClass', 'http_' || (answer->>'status'), 'unknown') END AS error_class,
        coalesce(answer->>'message', 'the receiver answered ' || (answer->>'status'), 'no answer is recorded') AS sentence
      FROM jsonb_array_elements(answers) AS answer) AS each
    GROUP BY url, error_class ORDER BY posts DESC, url, error_class`;
  return { attempts: row?.attempts ?? 0, oldest_at: row?.oldest_at ?? null, answers: await tx.query(sql, values) };
}
