import type { Tx } from './open-store.ts';
import { oneRow } from './rows.ts';

/** Tables of the record: those of deliveries and the history of memberships have a partition a day, the counters a partition a month. */
const DAILY = ['deliveries', 'attempts', 'membership_changes'] as const;
const MONTHLY = 'delivery_counts';

export async function makeDayPartitions(tx: Tx, day: string): Promise<void> {
  for (const table of DAILY) {
    await tx.query(`SELECT make_record_partition($1, $2::date, $2::date + 1)`, [table, day]);
  }
}

/** `month` is any day of it. */
export async function makeMonthPartition(tx: Tx, month: string): Promise<void> {
  const sql = `SELECT make_record_partition($1, $2::date, ($2::date + interval '1 month')::date)`;
  await tx.query(sql, [MONTHLY, `${month.slice(0, 7)}-01`]);
}

export type Dropped = string | undefined;

/** One partition at a time, each in a transaction of its own. Returns its name, or undefined when none is left to drop. */
export async function dropOldPartition(tx: Tx, { recordsFrom, countsFrom }: Kept): Promise<Dropped> {
  const befores = [...DAILY.map((table) => [table, recordsFrom]), [MONTHLY, `${countsFrom.slice(0, 7)}-01`]];
  for (const values of befores) {
    const row = await oneRow<{ name: string | null }>(tx, 'SELECT drop_record_partition($1, $2) AS name', values);
    if (typeof row?.name === 'string') return row.name;
  }
  return undefined;
}

/** The first days that are kept. */
export type Kept = { recordsFrom: string; countsFrom: string };
