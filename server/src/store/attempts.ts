import type { Tx } from './open-store.ts';
import { oneRow } from './rows.ts';

export type AttemptRow = {
  workspace_id: string;
  delivery_id: string;
  received_on: string;
  destination_id: string;
  at: Date;
  attempt: number;
  outcome: string;
  total_ms: number;
  /** As deliver reported them: OutcomeAnswer of the stream. */
  answers: Record<string, unknown>[];
  next_at: Date | null;
  /** The replay, or retry of a dead letter, that it was made for. */
  replay_id: string | null;
};

const NAMES =
  'workspace_id, delivery_id, received_on, destination_id, at, attempt, outcome, total_ms, answers, next_at, replay_id';
const RECORD = `workspace_id text, delivery_id text, received_on date, destination_id text, at timestamptz, attempt integer,
  outcome text, total_ms real, answers jsonb, next_at timestamptz, replay_id text`;

const INSERT = `WITH inserted AS (
    INSERT INTO attempts (${NAMES}) SELECT ${NAMES} FROM json_to_recordset($1) AS given (${RECORD})
    ON CONFLICT DO NOTHING RETURNING delivery_id, at, attempt, outcome
  ) SELECT delivery_id, at, attempt FROM inserted WHERE outcome = 'retry'`;

export type NewRetry = Pick<AttemptRow, 'delivery_id' | 'at' | 'attempt'>;

/** Returns the retries among them that were not stored before. */
export function addAttempts(tx: Tx, rows: readonly AttemptRow[]): Promise<NewRetry[]> {
  return rows.length === 0 ? Promise.resolve([]) : tx.query(INSERT, [JSON.stringify(rows)]);
}

/** A receiver that is down for days does not make this a long list: a delivery has some twenty attempts. */
const MAX_ATTEMPTS = 500;

export function attemptsOf(tx: Tx, workspaceId: string, deliveryIds: readonly string[]): Promise<AttemptRow[]> {
  const sql = `SELECT ${NAMES.replace('received_on', 'received_on::text')} FROM attempts
    WHERE workspace_id = $1 AND delivery_id = ANY($2) ORDER BY at, attempt LIMIT ${MAX_ATTEMPTS}`;
  return tx.query(sql, [workspaceId, deliveryIds]);
}

export type Latency = { attempts: number; p50: number | null; p95: number | null; p99: number | null };

/** How long the latest attempts took, at most a thousand of them. */
export async function recentLatency(
  tx: Tx,
  { workspaceId, destinationId }: { workspaceId: string; destinationId: string },
  since: Date,
): Promise<Latency> {
  const sql = `SELECT count(*)::int AS attempts,
      percentile_cont(0.5) WITHIN GROUP (ORDER BY total_ms) AS p50,
      percentile_cont(0.95) WITHIN GROUP (ORDER BY total_ms) AS p95,
      percentile_cont(0.99) WITHIN GROUP (ORDER BY total_ms) AS p99
    FROM (SELECT total_ms FROM attempts WHERE workspace_id = $1 AND destination_id = $2 AND at >= $3
      ORDER BY at DESC LIMIT 1000) AS latest`;
  const row = await oneRow<Latency>(tx, sql, [workspaceId, destinationId, since]);
  return row ?? { attempts: 0, p50: null, p95: null, p99: null };
}
