/** Every place where the database keeps sealed values, and how to find those that a certain key has sealed. */
import type { Tx } from './open-store.ts';
import { readInOrder } from './rows.ts';

/** A row with what is sealed in it: one value, or settings with sealed values inside. */
export type SealedRow = { workspace_id: string; id: string; sealed: Buffer | Record<string, unknown> };
export type SealedTable =
  | 'write_keys'
  | 'idempotency_keys'
  | 'destinations'
  | 'mails'
  | 'totp_seeds'
  | 'audit_streams'
  | 'sso_connections'
  | 'sso_attempts';

const SHAPES = {
  write_keys: { workspace: 'workspace_id', id: 'id', column: 'key_sealed', isJson: false },
  idempotency_keys: { workspace: 'workspace_id', id: 'key', column: 'answer_sealed', isJson: false },
  destinations: { workspace: 'workspace_id', id: 'id', column: 'settings', isJson: true },
  mails: { workspace: 'workspace_id', id: 'id', column: 'content_sealed', isJson: false },
  // Of an account, and so of no workspace.
  totp_seeds: { workspace: `''::text`, id: 'id', column: 'seed_sealed', isJson: false },
  audit_streams: { workspace: 'workspace_id', id: 'id', column: 'secret_sealed', isJson: false },
  sso_connections: { workspace: 'workspace_id', id: 'id', column: 'client_secret_sealed', isJson: false },
  sso_attempts: { workspace: 'workspace_id', id: 'id', column: 'content_sealed', isJson: false },
} as const;
export const SEALED_TABLES = Object.keys(SHAPES) as SealedTable[];

export type Others = { head: Buffer; after: readonly [workspaceId: string, id: string]; limit: number };

/** The next rows that hold something sealed by another key than the one whose values begin with `head`. */
export async function takeSealedByOthers(
  tx: Tx,
  table: SealedTable,
  { head, after, limit }: Others,
): Promise<SealedRow[]> {
  await readInOrder(tx);
  const { workspace, id, column } = SHAPES[table];
  const others = byOthers(table, head);
  const sql = `SELECT ${workspace} AS workspace_id, ${id} AS id, ${column} AS sealed FROM ${table}
    WHERE ${others.condition} AND (${workspace}, ${id}) > ($2, $3)
    ORDER BY ${workspace}, ${id} LIMIT $4 FOR UPDATE SKIP LOCKED`;
  return tx.query(sql, [others.value, ...after, limit]);
}

export async function isSealedByOthers(tx: Tx, table: SealedTable, head: Buffer): Promise<boolean> {
  const { condition, value } = byOthers(table, head);
  return (await tx.query(`SELECT 1 AS one FROM ${table} WHERE ${condition} LIMIT 1`, [value])).length > 0;
}

/** How many rows of all tables hold something whose seal begins with `head`. */
export async function countSealedBy(tx: Tx, head: Buffer): Promise<number> {
  let count = 0;
  for (const table of SEALED_TABLES) {
    const { condition, value } = by(table, head);
    const sql = `SELECT count(*)::integer AS count FROM ${table} WHERE ${condition}`;
    const [row] = await tx.query<{ count: number }>(sql, [value]);
    count += row?.count ?? 0;
  }
  return count;
}

export async function replaceSealed(tx: Tx, table: SealedTable, row: SealedRow): Promise<void> {
  const { workspace, id, column } = SHAPES[table];
  const sql = `UPDATE ${table} SET ${column} = $3 WHERE ${workspace} = $1 AND ${id} = $2`;
  await tx.query(sql, [row.workspace_id, row.id, row.sealed]);
}

type Condition = { condition: string; value: Buffer | string };

function by(table: SealedTable, head: Buffer): Condition {
  const { column, isJson } = SHAPES[table];
  if (isJson) return { condition: `${column}::text ~ $1`, value: `"sealed": "${base64Pattern(head)}` };
  return { condition: `substring(${column} FROM 1 FOR 3) = $1`, value: head };
}

function byOthers(table: SealedTable, head: Buffer): Condition {
  const { column, isJson } = SHAPES[table];
  if (isJson) return { condition: `${column}::text ~ $1`, value: `"sealed": "(?!${base64Pattern(head)})` };
  return { condition: `substring(${column} FROM 1 FOR 3) <> $1`, value: head };
}

/** Three bytes are four characters of base64, of which `+` means something in a pattern. */
function base64Pattern(head: Buffer): string {
  return head.toString('base64').replaceAll('+', '\\+');
}
