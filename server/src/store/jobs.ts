import type { Tx } from './open-store.ts';
import { oneRow, type Page } from './rows.ts';

export type JobKind = 'redrive' | 'replay' | 'deletion';
export type JobState = 'running' | 'paused' | 'cancelled' | 'done' | 'failed';

export type JobRow = {
  workspace_id: string;
  id: string;
  kind: JobKind;
  state: JobState;
  asked: Record<string, unknown>;
  position: Record<string, unknown>;
  done: number;
  total: number | null;
  skipped: Record<string, number>;
  receipt: Record<string, unknown>;
  problem: string | null;
  created_at: Date;
  updated_at: Date;
  ended_at: Date | null;
  /** Kind and id, as in the audit log; null for jobs of before it was kept. */
  started_by: { kind: string; id: string } | null;
};

export type NewJob = Pick<JobRow, 'workspace_id' | 'id' | 'kind' | 'asked' | 'started_by'>;

// bigint comes as text from the driver; nobody replays 2^53 events.
const COLUMNS = `workspace_id, id, kind, state, asked, position, done::float8 AS done, total::float8 AS total, skipped, receipt,
  problem, created_at, updated_at, ended_at, started_by`;

export async function insertJob(tx: Tx, { workspace_id, id, kind, asked, started_by }: NewJob): Promise<JobRow> {
  const sql = `INSERT INTO jobs (workspace_id, id, kind, asked, started_by) VALUES ($1, $2, $3, $4, $5) RETURNING ${COLUMNS}`;
  const [row] = await tx.query<JobRow>(sql, [workspace_id, id, kind, asked, started_by]);
  if (row === undefined) throw new Error('an insert gave no row');
  return row;
}

export type JobName = { workspaceId: string; kind: JobKind; id: string };

export function findJob(tx: Tx, { workspaceId, kind, id }: JobName): Promise<JobRow | undefined> {
  const sql = `SELECT ${COLUMNS} FROM jobs WHERE workspace_id = $1 AND kind = $2 AND id = $3`;
  return oneRow(tx, sql, [workspaceId, kind, id]);
}

export type JobStart = Pick<JobRow, 'id' | 'created_at' | 'started_by'>;

/** Who started these jobs, and when. */
export function jobStarts(tx: Tx, workspaceId: string, ids: readonly string[]): Promise<JobStart[]> {
  if (ids.length === 0) return Promise.resolve([]);
  return tx.query('SELECT id, created_at, started_by FROM jobs WHERE workspace_id = $1 AND id = ANY($2)', [
    workspaceId,
    ids,
  ]);
}

/** Newest first. */
export function listJobs(
  tx: Tx,
  { workspaceId, kind }: Omit<JobName, 'id'>,
  { limit, after }: Page,
): Promise<JobRow[]> {
  const sql = `SELECT ${COLUMNS} FROM jobs
    WHERE workspace_id = $1 AND kind = $2 AND ($3::text IS NULL OR id < $3) ORDER BY id DESC LIMIT $4`;
  return tx.query(sql, [workspaceId, kind, after ?? null, limit]);
}

/** By a person. Undefined when there is no such job, or it is in none of the states to leave. */
export function moveJob(
  tx: Tx,
  { workspaceId, kind, id }: JobName,
  { from, to }: { from: readonly JobState[]; to: JobState },
): Promise<JobRow | undefined> {
  const sql = `UPDATE jobs SET state = $5, updated_at = now(), ended_at = CASE WHEN $5 = 'cancelled' THEN now() END
    WHERE workspace_id = $1 AND kind = $2 AND id = $3 AND state = ANY($4) RETURNING ${COLUMNS}`;
  return oneRow(tx, sql, [workspaceId, kind, id, from, to]);
}

/** Jobs that no process runs. */
export type Unclaimed = { kinds: readonly JobKind[]; notOf: readonly string[] };

const UNCLAIMED = `state = 'running' AND (leased_until IS NULL OR leased_until < now())
  AND kind = ANY($1) AND NOT workspace_id = ANY($2)`;

/** The job that has waited longest for its next step, for this holder; none of the workspaces that have enough. */
export function claimJob(
  tx: Tx,
  { kinds, notOf }: Unclaimed,
  { lease, leaseMs }: { lease: string; leaseMs: number },
): Promise<JobRow | undefined> {
  const sql = `UPDATE jobs SET lease = $3, leased_until = now() + $4 * interval '1 millisecond'
    WHERE id = (SELECT id FROM jobs WHERE ${UNCLAIMED} ORDER BY updated_at, id LIMIT 1 FOR UPDATE SKIP LOCKED)
    RETURNING ${COLUMNS}`;
  return oneRow(tx, sql, [kinds, notOf, lease, leaseMs]);
}

export async function hasUnclaimedJob(tx: Tx, { kinds, notOf }: Unclaimed): Promise<boolean> {
  return (await tx.query(`SELECT 1 AS one FROM jobs WHERE ${UNCLAIMED} LIMIT 1`, [kinds, notOf])).length > 0;
}

/** What one step came to. */
export type JobStep = {
  position: Record<string, unknown>;
  done?: number;
  counted?: number;
  skipped?: Record<string, number>;
  receipt?: Record<string, unknown>;
  /** Set when what was asked for must not be kept as it was. */
  asked?: Record<string, unknown>;
  /** Why nothing moves; kept until a step has none. */
  problem?: string;
  end?: 'done' | 'failed';
};

/** Undefined when the lease was over and somebody else has it. A state that a person has set stays. */
export function saveStep(
  tx: Tx,
  { id, skipped }: JobRow,
  { step, lease, leaseMs }: { step: JobStep; lease: string; leaseMs: number },
): Promise<JobRow | undefined> {
  const sql = `UPDATE jobs SET position = $3, done = done + $4,
      total = CASE WHEN $5::bigint IS NULL THEN total ELSE coalesce(total, 0) + $5 END, skipped = $6, problem = $7,
      state = CASE WHEN state = 'running' THEN coalesce($8, state) ELSE state END, updated_at = now(),
      ended_at = CASE WHEN state = 'running' AND $8 IS NOT NULL THEN now() ELSE ended_at END,
      receipt = coalesce($10, receipt), asked = coalesce($11, asked),
      leased_until = now() + $9 * interval '1 millisecond'
    WHERE id = $1 AND lease = $2 RETURNING ${COLUMNS}`;
  const { position, done = 0, counted = null, problem = null, end = null, receipt = null, asked = null } = step;
  const sum = addCounts(skipped, step.skipped ?? {});
  return oneRow(tx, sql, [id, lease, position, done, counted, sum, problem, end, leaseMs, receipt, asked]);
}

export async function releaseJob(tx: Tx, id: string, lease: string): Promise<void> {
  await tx.query('UPDATE jobs SET lease = NULL, leased_until = NULL WHERE id = $1 AND lease = $2', [id, lease]);
}

function addCounts(one: Record<string, number>, other: Record<string, number>): Record<string, number> {
  const sum = { ...one };
  for (const [reason, count] of Object.entries(other)) sum[reason] = (sum[reason] ?? 0) + count;
  return sum;
}
