/** Deliveries that succeeded at once and have no row: counted, known by their ids, and nothing else of them is kept. */
import type { Tx } from './open-store.ts';

export type PlainDelivery = {
  workspace_id: string;
  id: string;
  received_on: string;
  delivered_at: Date;
  status: number | null;
};

const COLUMNS = 'workspace_id, id, received_on::text, delivered_at, status';

/** Those of one day that are there already. */
export function plainOfDay(tx: Tx, day: string, ids: readonly string[]): Promise<PlainDelivery[]> {
  if (ids.length === 0) return Promise.resolve([]);
  return tx.query(`SELECT ${COLUMNS} FROM plain_deliveries WHERE received_on = $1 AND id = ANY($2)`, [day, ids]);
}

/** Of several successful attempts, the first. Only under lockRecord. */
export async function putPlain(tx: Tx, rows: readonly PlainDelivery[]): Promise<void> {
  const sql = `INSERT INTO plain_deliveries (workspace_id, id, received_on, delivered_at, status)
    SELECT workspace_id, id, received_on, delivered_at, status FROM json_to_recordset($1)
      AS given (workspace_id text, id text, received_on date, delivered_at timestamptz, status smallint)
    ON CONFLICT (id, received_on) DO UPDATE SET delivered_at = excluded.delivered_at, status = excluded.status`;
  if (rows.length > 0) await tx.query(sql, [JSON.stringify(rows)]);
}

/** Of these ids, those that succeeded at once and have no row. */
export function findPlain(tx: Tx, workspaceId: string, ids: readonly string[]): Promise<PlainDelivery[]> {
  if (ids.length === 0) return Promise.resolve([]);
  return tx.query(`SELECT ${COLUMNS} FROM plain_deliveries WHERE workspace_id = $1 AND id = ANY($2)`, [
    workspaceId,
    ids,
  ]);
}
