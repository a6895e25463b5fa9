import type { Tx } from './open-store.ts';
import { oneRow } from './rows.ts';
import { OUTCOME_SLOT_MS } from './slot-counts.ts';

/**
 * Tables of the record: those of deliveries and the history of memberships have partitions of whole days, the counters a partition a
 * month. Where rows are few, a partition has several days; where they are many, the partition of a day has several parts, by the hash of
 * the delivery's id.
 */
const OF_DAYS = ['deliveries', 'plain_deliveries', 'attempts', 'membership_changes'] as const;
const MONTHLY = 'delivery_counts';

/** How many days a partition has, and in how many parts they lie. */
export type PartitionSize = { days: number; parts: number };

/** With its indexes a row of `deliveries` takes about a kilobyte. */
const ROWS_OF_PART = 20_000_000;
/** PostgreSQL locks every partition that a question may need, with its indexes. Four such questions at a time fit into its table of locks. */
const LOCKS_OF_PARTITION = 4 * 13;
const MOST_PARTS = 64;
/** A partition is dropped whole: it is at most this part of the retention, so nothing is kept for much longer. */
const SHARE_OF_RETENTION = 1 / 32;
const DAY_MS = 86_400_000;

export type PartitionFacts = {
  rowsPerDay: number;
  /** How many locks PostgreSQL has room for. */
  locks: number;
};

export function partitionSize({ rowsPerDay, locks }: PartitionFacts, retentionDays: number): PartitionSize {
  const longest = Math.max(1, Math.floor(retentionDays * SHARE_OF_RETENTION));
  const fitting = Math.floor(ROWS_OF_PART / Math.max(1, rowsPerDay));
  const days = Math.min(longest, Math.max(1, fitting));
  const spans = Math.ceil(retentionDays / days) + 2;
  const most = Math.max(1, Math.min(MOST_PARTS, Math.floor(locks / LOCKS_OF_PARTITION / spans)));
  const wanted = Math.ceil((rowsPerDay * days) / ROWS_OF_PART);
  const parts = 2 ** Math.ceil(Math.log2(Math.max(1, wanted)));
  return { days, parts: Math.min(parts, 2 ** Math.floor(Math.log2(most))) };
}

/** Of the last 24 hours. Every workspace has rows in each slot: with all slots of a day the question would take longer than it may. */
const SLOTS_LOOKED_AT = 12;

/** The rate is that of deliveries that ended in the last 24 hours, by one slot of ten minutes in every two hours. */
async function readFacts(tx: Tx): Promise<PartitionFacts> {
  const slotsOfDay = DAY_MS / OUTCOME_SLOT_MS;
  const sql = `SELECT (coalesce(sum(count), 0) * ${slotsOfDay / SLOTS_LOOKED_AT})::float8 AS rows,
      current_setting('max_locks_per_transaction')::int * current_setting('max_connections')::int AS locks
    FROM outcome_slots WHERE outcome <> 'retry' AND slot = ANY (ARRAY(
      SELECT date_bin($1, now(), 'epoch') - $1::interval * (1 + ${slotsOfDay / SLOTS_LOOKED_AT} * step)
      FROM generate_series(0, ${SLOTS_LOOKED_AT - 1}) AS step))`;
  const found = await oneRow<{ rows: number; locks: number }>(tx, sql, [`${OUTCOME_SLOT_MS} milliseconds`]);
  return { rowsPerDay: found?.rows ?? 0, locks: found?.locks ?? 0 };
}

/** Makes the partitions with this day where they are missing. */
export async function makeDayPartitions(tx: Tx, day: string, retentionDays: number): Promise<void> {
  const { days, parts } = partitionSize(await readFacts(tx), retentionDays);
  const number = Math.floor(Date.parse(day) / DAY_MS);
  const first = new Date((number - (number % days)) * DAY_MS).toISOString().slice(0, 10);
  for (const table of OF_DAYS) {
    const values = [table, day, first, days, parts];
    await tx.query(`SELECT make_sized_partition($1, $2::date, $3::date, $3::date + $4::integer, $5)`, values);
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
  const befores = [...OF_DAYS.map((table) => [table, recordsFrom]), [MONTHLY, `${countsFrom.slice(0, 7)}-01`]];
  for (const values of befores) {
    const row = await oneRow<{ name: string | null }>(tx, 'SELECT drop_record_partition($1, $2) AS name', values);
    if (typeof row?.name === 'string') return row.name;
  }
  return undefined;
}

/** The first days that are kept. */
export type Kept = { recordsFrom: string; countsFrom: string };
