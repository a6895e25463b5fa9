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
  /** Kind and id, as in the audit log; null for jobs of older versions. */
  started_by: { kind: string; id: string } | null;
};

export type NewJob = Pick<JobRow, 'workspace_id' | 'id' | 'kind' | 'asked' | 'started_by'> &
  Partial<Pick<JobRow, 'receipt'>>;

// The driver returns bigint as text; no job has 2^53 items.
const COLUMNS = `workspace_id, id, kind, state, asked, position, done::float8 AS done, total::float8 AS total, skipped, receipt,
  problem, created_at, updated_at, ended_at, started_by`;

export async function insertJob(tx: Tx, job: NewJob): Promise<JobRow> {
  const { workspace_id, id, kind, asked, started_by, receipt = {} } = job;
  const sql = `INSERT INTO jobs (workspace_id, id, kind, asked, started_by, receipt)
    VALUES ($1, $2, $3, $4, $5, $6) RETURNING ${COLUMNS}`;
  const [row] = await tx.query<JobRow>(sql, [workspace_id, id, kind, asked, started_by, receipt]);
  if (row === undefined) throw new Error('an insert gave no row');
  return row;
}

export type JobName = { workspaceId: string; kind: JobKind; id: string };

export function findJob(tx: Tx, { workspaceId, kind, id }: JobName): Promise<JobRow | undefined> {
  const sql = `SELECT ${COLUMNS} FROM jobs WHERE workspace_id = $1 AND kind = $2 AND id = $3`;
  return oneRow(tx, sql, [workspaceId, kind, id]);
}

export type JobStart = Pick<JobRow, 'id' | 'created_at' | 'started_by'>;

/** The actor and the time of the start of each of these jobs. */
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

/** Moves the job for a request. Undefined when there is no such job, or it is in none of the `from` states. */
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

const IS_FREE = `state = 'running' AND (leased_until IS NULL OR leased_until < now())`;
const UNCLAIMED = `${IS_FREE}
  AND kind = ANY($1) AND NOT workspace_id = ANY($2)`;

/** Whether any job waits for a process. */
export const JOB_WAITS = `EXISTS (SELECT FROM jobs WHERE ${IS_FREE})`;

/** Leases the job that has waited longest for its next step, except those of the workspaces in `notOf`. */
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

/** The result of one step. */
export type JobStep = {
  position: Record<string, unknown>;
  done?: number;
  counted?: number;
  skipped?: Record<string, number>;
  receipt?: Record<string, unknown>;
  /** Replaces the stored request, when parts of it must not be kept. */
  asked?: Record<string, unknown>;
  /** Why the job makes no progress; stored until a step has none. */
  problem?: string;
  end?: 'done' | 'failed';
};

/** Undefined when the lease expired and another process holds the job. A state that a request has set stays. */
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
