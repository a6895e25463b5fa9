import { hash } from 'node:crypto';
import type { Tx } from './open-store.ts';
import { oneRow, type Page } from './rows.ts';

export type AuditEntry = {
  at: Date;
  /** Who: a user by session, or a token; with the address they came from. */
  actor: Record<string, string>;
  action: string;
  objectId: string;
  /** What changed, without secrets. */
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

const COLUMNS = 'sequence, at, actor, action, object_id, details, previous_hash, hash';
const FIRST_HASH = Buffer.alloc(32);

/** In the transaction of the change itself: no change without its entry, no entry without its change. */
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
  const chained = hashOfEntry({ workspaceId, sequence, previous }, entry);
  await tx.query(sql, [workspaceId, sequence, at, actor, action, objectId, details, previous, chained]);
}

export function listAudit(tx: Tx, workspaceId: string, { limit, after }: Page): Promise<AuditRow[]> {
  const sql = `SELECT ${COLUMNS} FROM audit_log WHERE workspace_id = $1 AND sequence < $2 ORDER BY sequence DESC LIMIT $3`;
  return tx.query(sql, [workspaceId, after ?? Number.MAX_SAFE_INTEGER, limit]);
}

/** The first entry that does not fit the one before it, or undefined when the whole chain holds. */
export async function findBrokenEntry(tx: Tx, workspaceId: string): Promise<number | undefined> {
  const sql = `SELECT ${COLUMNS} FROM audit_log WHERE workspace_id = $1 ORDER BY sequence`;
  let previous: Buffer = FIRST_HASH;
  for (const [index, row] of (await tx.query<AuditRow>(sql, [workspaceId])).entries()) {
    const sequence = index + 1;
    const { at, actor, action, object_id: objectId, details } = row;
    const expected = hashOfEntry({ workspaceId, sequence, previous }, { at, actor, action, objectId, details });
    if (Number(row.sequence) !== sequence || !row.hash.equals(expected)) return sequence;
    previous = row.hash;
  }
  return undefined;
}

type Link = { workspaceId: string; sequence: number; previous: Buffer };

function hashOfEntry(
  { workspaceId, sequence, previous }: Link,
  { at, actor, action, objectId, details }: AuditEntry,
): Buffer {
  const text = JSON.stringify([
    workspaceId,
    sequence,
    previous.toString('hex'),
    at.toISOString(),
    sorted(actor),
    action,
    objectId,
    sorted(details),
  ]);
  return hash('sha256', text, 'buffer');
}

/** jsonb keeps its keys in an order of its own, so the hash is made of keys in ours. */
function sorted(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(sorted);
  if (typeof value !== 'object' || value === null) return value;
  return Object.entries(value)
    .toSorted(([a], [b]) => (a < b ? -1 : 1))
    .map(([key, inner]) => [key, sorted(inner)]);
}
