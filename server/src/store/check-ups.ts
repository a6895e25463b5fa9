/**
 * The latest check-up of each destination. It is running, done or failed. `startCheckUp` makes it running, `saveCheckUp` renews
 * its lease and ends it. A running one whose lease is over was left by a process that ended: it reads as lost, can be replaced,
 * and is never continued.
 */
import type { CheckUp, CheckUpStep } from '@millrace/contract/control';
import type { Tx } from './open-store.ts';
import { oneRow } from './rows.ts';

export type CheckUpRow = {
  workspace_id: string;
  destination_id: string;
  id: string;
  target_index: number;
  state: 'running' | 'done' | 'failed';
  steps: CheckUpStep[];
  facts: CheckUp['facts'];
  problem: string | null;
  started_at: Date;
  ended_at: Date | null;
  leased_until: Date;
  /** Running by its state, and its lease is over. */
  is_lost: boolean;
};

const COLUMNS = `workspace_id, destination_id, id, target_index, state, steps, facts, problem, started_at, ended_at, leased_until,
  state = 'running' AND leased_until <= now() AS is_lost`;

export type NewCheckUp = Pick<CheckUpRow, 'workspace_id' | 'destination_id' | 'id' | 'target_index' | 'steps'>;

/** Replaces the check-up before; undefined while that one runs. */
export function startCheckUp(tx: Tx, row: NewCheckUp, leaseMs: number): Promise<CheckUpRow | undefined> {
  const sql = `INSERT INTO check_ups (workspace_id, destination_id, id, target_index, steps, leased_until)
    VALUES ($1, $2, $3, $4, $5, now() + $6 * interval '1 millisecond')
    ON CONFLICT (workspace_id, destination_id) DO UPDATE SET id = excluded.id, target_index = excluded.target_index,
      steps = excluded.steps, leased_until = excluded.leased_until, state = 'running', facts = NULL, problem = NULL,
      started_at = now(), ended_at = NULL
    WHERE check_ups.state <> 'running' OR check_ups.leased_until <= now()
    RETURNING ${COLUMNS}`;
  const { workspace_id, destination_id, id, target_index, steps } = row;
  return oneRow(tx, sql, [workspace_id, destination_id, id, target_index, JSON.stringify(steps), leaseMs]);
}

export async function countRunningCheckUps(tx: Tx, workspaceId: string): Promise<number> {
  const sql = `SELECT count(*)::int AS count FROM check_ups
    WHERE workspace_id = $1 AND state = 'running' AND leased_until > now()`;
  return (await oneRow<{ count: number }>(tx, sql, [workspaceId]))?.count ?? 0;
}

export function findCheckUp(tx: Tx, workspaceId: string, destinationId: string): Promise<CheckUpRow | undefined> {
  const sql = `SELECT ${COLUMNS} FROM check_ups WHERE workspace_id = $1 AND destination_id = $2`;
  return oneRow(tx, sql, [workspaceId, destinationId]);
}

export type CheckUpProgress = Pick<CheckUpRow, 'state' | 'steps' | 'facts' | 'problem'>;

/** False when it is not this process's any more: the lease is over, or the destination was deleted. */
export async function saveCheckUp(
  tx: Tx,
  { workspace_id, id }: Pick<CheckUpRow, 'workspace_id' | 'id'>,
  { state, steps, facts, problem }: CheckUpProgress,
  leaseMs: number,
): Promise<boolean> {
  const sql = `UPDATE check_ups SET state = $3, steps = $4, facts = $5, problem = $6,
      ended_at = CASE WHEN $3 <> 'running' THEN now() END, leased_until = now() + $7 * interval '1 millisecond'
    WHERE workspace_id = $1 AND id = $2 AND state = 'running' AND leased_until > now() RETURNING id`;
  const values = [workspace_id, id, state, JSON.stringify(steps), facts, problem, leaseMs];
  return (await tx.query(sql, values)).length > 0;
}
