import { type ChainEntry, hashOfEntry, linkProblem } from '@millrace/contract/audit-chain';
import type { Tx } from './open-store.ts';
import { oneRow, type Page } from './rows.ts';

export type AuditEntry = {
  at: Date;
  /** A user with the session, or a token; with the client's address. */
  actor: Record<string, string>;
  action: string;
  objectId: string;
  /** The change, without secrets. */
  details: Record<string, unknown>;
};

export type AuditRow = {
  sequence: string;
  at: Date;
  actor: Record<string, string>;
  action: string;
  object_id: string;
  details: Record<string, unknown>;
  previous_hash: Buffer;
  hash: Buffer;
};

/** In place of a workspace: the log of operators' changes, which belong to no workspace. */
export const INSTALLATION = 'installation';

const COLUMNS = 'sequence, at, actor, action, object_id, details, previous_hash, hash';
const FIRST_HASH = Buffer.alloc(32);

/** Runs in the transaction of the change: no change without its entry, no entry without its change. */
export async function appendAudit(tx: Tx, workspaceId: string, entry: AuditEntry): Promise<void> {
  // One at a time for each workspace: each entry needs the hash of the one before it.
  await tx.query('SELECT pg_advisory_xact_lock(hashtextextended($1, 0))', [`audit ${workspaceId}`]);
  const last = await oneRow<AuditRow>(
    tx,
    `SELECT ${COLUMNS} FROM audit_log WHERE workspace_id = $1 ORDER BY sequence DESC LIMIT 1`,
    [workspaceId],
  );
  const sequence = Number(last?.sequence ?? 0) + 1;
  const previous = last?.hash ?? FIRST_HASH;
  const { at, actor, action, objectId, details } = entry;
  const sql = `INSERT INTO audit_log (workspace_id, sequence, at, actor, action, object_id, details, previous_hash, hash)
    VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9)`;
  const previousHash = previous.toString('hex');
  const linked = { sequence, at: at.toISOString(), actor, action, objectId, details, previousHash };
  const chained = Buffer.from(hashOfEntry(workspaceId, linked), 'hex');
  await tx.query(sql, [workspaceId, sequence, at, actor, action, objectId, details, previous, chained]);
}

export function listAudit(tx: Tx, workspaceId: string, { limit, after }: Page): Promise<AuditRow[]> {
  const sql = `SELECT ${COLUMNS} FROM audit_log WHERE workspace_id = $1 AND sequence < $2 ORDER BY sequence DESC LIMIT $3`;
  return tx.query(sql, [workspaceId, after ?? Number.MAX_SAFE_INTEGER, limit]);
}

/** Where a chain ends: its last entry and that entry's hash. */
export type AuditEnd = { sequence: number; hash: Buffer };
export type CheckedAudit = { kind: 'holds'; end: AuditEnd } | { kind: 'broken'; sequence: number; why: string };

const BEFORE_FIRST: AuditEnd = { sequence: 0, hash: FIRST_HASH };
const CHECKED_AT_ONCE = 1_000;

export async function auditEnd(tx: Tx, workspaceId: string): Promise<AuditEnd> {
  const sql = 'SELECT sequence, hash FROM audit_log WHERE workspace_id = $1 ORDER BY sequence DESC LIMIT 1';
  const last = await oneRow<Pick<AuditRow, 'sequence' | 'hash'>>(tx, sql, [workspaceId]);
  return last === undefined ? BEFORE_FIRST : { sequence: Number(last.sequence), hash: last.hash };
}

/** The ends of the audit logs of the installation and of all workspaces, also of those without an entry. */
export async function auditEnds(tx: Tx): Promise<Map<string, AuditEnd>> {
  const sql = `SELECT w.id, last.sequence, last.hash FROM
    (SELECT id FROM workspaces UNION ALL SELECT '${INSTALLATION}') AS w LEFT JOIN LATERAL
    (SELECT sequence, hash FROM audit_log WHERE workspace_id = w.id ORDER BY sequence DESC LIMIT 1) AS last ON true`;
  const rows = await tx.query<{ id: string; sequence: string | null; hash: Buffer | null }>(sql);
  return new Map(
    rows.map(({ id, sequence, hash }) => [id, { sequence: Number(sequence ?? 0), hash: hash ?? FIRST_HASH }]),
  );
}

/**
 * Looks at every entry after `from`: whether each fits the one before it. `from` and `anchor` are ends that the log had once;
 * an entry there with another hash, or none, was put in the place of the first one.
 */
export async function checkAudit(
  tx: Tx,
  workspaceId: string,
  { from = BEFORE_FIRST, anchor = from }: { from?: AuditEnd; anchor?: AuditEnd },
): Promise<CheckedAudit> {
  if (from.sequence > 0) {
    const [first] = await auditAfter(tx, workspaceId, from.sequence - 1);
    if (first?.hash.equals(from.hash) !== true) return broken(from.sequence, ANCHOR_MISSED);
  }
  let end = from;
  for (;;) {
    const rows = await auditAfter(tx, workspaceId, end.sequence);
    for (const row of rows) {
      const before = { sequence: end.sequence, hash: end.hash.toString('hex') };
      const why = linkProblem(workspaceId, before, toChainEntry(row));
      end = { sequence: end.sequence + 1, hash: row.hash };
      if (why !== undefined) return broken(end.sequence, why);
      if (end.sequence === anchor.sequence && !end.hash.equals(anchor.hash)) return broken(end.sequence, ANCHOR_MISSED);
    }
    if (rows.length < CHECKED_AT_ONCE) break;
  }
  return end.sequence < anchor.sequence ? broken(end.sequence + 1, ANCHOR_MISSED) : { kind: 'holds', end };
}

function broken(sequence: number, why: string): CheckedAudit {
  return { kind: 'broken', sequence, why };
}

const ANCHOR_MISSED =
  'the log is not the one whose end was anchored: it was rewritten, or an older backup was restored';

/** Oldest first. */
export function auditAfter(
  tx: Tx,
  workspaceId: string,
  sequence: number,
  limit = CHECKED_AT_ONCE,
): Promise<AuditRow[]> {
  const sql = `SELECT ${COLUMNS} FROM audit_log WHERE workspace_id = $1 AND sequence > $2 ORDER BY sequence LIMIT $3`;
  return tx.query(sql, [workspaceId, sequence, limit]);
}

/** A row as the chain and its exports write it. */
export function toChainEntry(row: AuditRow): ChainEntry {
  const { at, actor, action, object_id: objectId, details } = row;
  return {
    sequence: Number(row.sequence),
    at: at.toISOString(),
    actor,
    action,
    objectId,
    details,
    previousHash: row.previous_hash.toString('hex'),
    hash: row.hash.toString('hex'),
  };
}
