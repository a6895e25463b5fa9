import type { Tx } from './open-store.ts';
import { oneRow, readInOrder } from './rows.ts';

export const DELIVERY_STATES = ['pending', 'retrying', 'delivered', 'discarded', 'expired', 'skipped'] as const;
export type DeliveryState = (typeof DELIVERY_STATES)[number];

export type DeliveryRow = {
  workspace_id: string;
  id: string;
  /** The day in UTC; decides the partition. */
  received_on: string;
  received_at: Date;
  source_id: string;
  destination_id: string;
  message_id: string;
  type: string;
  name: string | null;
  user_id: string | null;
  anonymous_id: string | null;
  state: DeliveryState;
  reason: string | null;
  /** Which rule of the destination's filters stopped it, in words. */
  rule: string | null;
  changed_at: Date;
  attempts: number;
  first_attempt_at: Date | null;
  last_attempt_at: Date | null;
  last_status: number | null;
  error_class: string | null;
  sentence: string | null;
  next_at: Date | null;
  counted: number;
  /** The latest replay that it was part of, and when. */
  replay_id: string | null;
  replayed_at: Date | null;
  /** Its user was erased: the row no longer has the user's ids. */
  is_erased: boolean;
};

/** Every column with its type, in the order of DeliveryRow. */
const TYPES = {
  workspace_id: 'text',
  id: 'text',
  received_on: 'date',
  received_at: 'timestamptz',
  source_id: 'text',
  destination_id: 'text',
  message_id: 'text',
  type: 'text',
  name: 'text',
  user_id: 'text',
  anonymous_id: 'text',
  state: 'text',
  reason: 'text',
  rule: 'text',
  changed_at: 'timestamptz',
  attempts: 'integer',
  first_attempt_at: 'timestamptz',
  last_attempt_at: 'timestamptz',
  last_status: 'integer',
  error_class: 'text',
  sentence: 'text',
  next_at: 'timestamptz',
  counted: 'smallint',
  replay_id: 'text',
  replayed_at: 'timestamptz',
  is_erased: 'boolean',
} as const satisfies Record<keyof DeliveryRow, string>;

const NAMES = Object.keys(TYPES);
const COLUMNS = NAMES.map((name) => (name === 'received_on' ? 'received_on::text' : name)).join(', ');
const RECORD = Object.entries(TYPES)
  .map(([name, type]) => `${name} ${type}`)
  .join(', ');

/** An erasure takes no lock of the record: it may have changed the row since the recorder read it. */
const UNLESS_ERASED: Readonly<Record<string, string>> = {
  user_id: `CASE WHEN deliveries.is_erased AND deliveries.user_id IS NULL THEN NULL ELSE excluded.user_id END`,
  anonymous_id: `CASE WHEN deliveries.is_erased AND deliveries.anonymous_id IS NULL THEN NULL ELSE excluded.anonymous_id END`,
  sentence: `CASE WHEN deliveries.is_erased AND NOT excluded.is_erased THEN NULL ELSE excluded.sentence END`,
  is_erased: 'deliveries.is_erased OR excluded.is_erased',
};

const UPSERT = `INSERT INTO deliveries (${NAMES.join(', ')})
  SELECT ${NAMES.join(', ')} FROM json_to_recordset($1) AS given (${RECORD})
  ON CONFLICT (id, received_on) DO UPDATE SET ${NAMES.filter((name) => name !== 'id' && name !== 'received_on')
    .map((name) => `${name} = ${UNLESS_ERASED[name] ?? `excluded.${name}`}`)
    .join(', ')}`;

/**
 * Locks slots of the record until the transaction ends, so that reads of their deliveries stay valid until their write. All recorders
 * lock in the same order, so none waits in a circle. A version before the slots locks the whole record: the shared lock keeps the
 * two apart.
 */
export async function lockRecord(tx: Tx, slots: Iterable<number>): Promise<void> {
  await tx.query(`SELECT pg_advisory_xact_lock_shared(hashtextextended('record', 0))`);
  const inOrder = [...new Set(slots)].sort((one, other) => one - other);
  await tx.query(`SELECT pg_advisory_xact_lock(hashtext('record slot'), slot) FROM unnest($1::integer[]) AS slot`, [
    inOrder,
  ]);
}

/**
 * Waits until the transactions that write the record now have ended; later ones see what is committed before this. The lock ends with
 * the transaction, which should do nothing else.
 */
export async function awaitRecorders(tx: Tx): Promise<void> {
  await tx.query(`SELECT pg_advisory_xact_lock(hashtextextended('record', 0))`);
}

/** The deliveries of one day that are there already. */
export function deliveriesOfDay(tx: Tx, day: string, ids: readonly string[]): Promise<DeliveryRow[]> {
  return tx.query(`SELECT ${COLUMNS} FROM deliveries WHERE received_on = $1 AND id = ANY($2)`, [day, ids]);
}

/** Writes each row as given. Only under lockRecord. */
export async function putDeliveries(tx: Tx, rows: readonly DeliveryRow[]): Promise<void> {
  if (rows.length > 0) await tx.query(UPSERT, [JSON.stringify(rows)]);
}

export function findDelivery(tx: Tx, workspaceId: string, id: string): Promise<DeliveryRow | undefined> {
  const sql = `SELECT ${COLUMNS} FROM deliveries WHERE workspace_id = $1 AND id = $2 ORDER BY received_on DESC LIMIT 1`;
  return oneRow(tx, sql, [workspaceId, id]);
}

/** More than this many destinations of one event are not explained at once. */
const MAX_OF_MESSAGE = 200;

export function deliveriesOfMessage(tx: Tx, workspaceId: string, messageId: string): Promise<DeliveryRow[]> {
  const sql = `SELECT ${COLUMNS} FROM deliveries WHERE workspace_id = $1 AND message_id = $2
    ORDER BY received_at DESC, id LIMIT ${MAX_OF_MESSAGE}`;
  return tx.query(sql, [workspaceId, messageId]);
}

/** The same for several events. */
export function deliveriesOfMessages(
  tx: Tx,
  workspaceId: string,
  messageIds: readonly string[],
): Promise<DeliveryRow[]> {
  if (messageIds.length === 0) return Promise.resolve([]);
  const sql = `SELECT ${COLUMNS} FROM deliveries WHERE workspace_id = $1 AND message_id = ANY($2)
    ORDER BY received_at DESC, id LIMIT ${MAX_OF_MESSAGE}`;
  return tx.query(sql, [workspaceId, messageIds]);
}

export type DeliveryFilter = {
  workspaceId: string;
  destinationId?: string | undefined;
  sourceId?: string | undefined;
  state?: string | undefined;
  errorClass?: string | undefined;
  userId?: string | undefined;
  name?: string | undefined;
  messageId?: string | undefined;
  from?: string | undefined;
  to?: string | undefined;
};

export type DeliveryPage = { limit: number; after: { receivedAt: string; id: string } | undefined };

const COLUMN_OF = {
  workspaceId: 'workspace_id',
  destinationId: 'destination_id',
  sourceId: 'source_id',
  errorClass: 'error_class',
  userId: 'user_id',
  name: 'name',
  messageId: 'message_id',
} as const;

/** Newest first. The query holds only the given filters, so that each combination finds its index. */
export async function listDeliveries(
  tx: Tx,
  filter: DeliveryFilter,
  { limit, after }: DeliveryPage,
): Promise<DeliveryRow[]> {
  const values: unknown[] = [];
  const put = (value: unknown) => `$${values.push(value)}`;
  const conditions = Object.entries(COLUMN_OF).flatMap(([field, column]) => {
    const value = filter[field as keyof typeof COLUMN_OF];
    return value === undefined ? [] : [`${column} = ${put(value)}`];
  });
  const { state, from, to } = filter;
  if (state !== undefined) conditions.push(`state = ${put(state)}`);
  // Repeated as a literal: PostgreSQL uses a partial index only if the query shows that it fits.
  if (state !== undefined && state !== 'delivered') conditions.push(`state <> 'delivered'`);
  if (from !== undefined) conditions.push(`received_at >= ${put(from)}`, `received_on >= ${put(from.slice(0, 10))}`);
  const end = after?.receivedAt ?? to;
  if (to !== undefined) conditions.push(`received_at < ${put(to)}`);
  if (end !== undefined) conditions.push(`received_on <= ${put(end.slice(0, 10))}`);
  if (after !== undefined) conditions.push(`(received_at, id) < (${put(after.receivedAt)}, ${put(after.id)})`);
  await readInOrder(tx);
  const sql = `SELECT ${COLUMNS} FROM deliveries WHERE ${conditions.join(' AND ')}
    ORDER BY received_at DESC, id DESC LIMIT ${put(limit)}`;
  return tx.query(sql, values);
}
