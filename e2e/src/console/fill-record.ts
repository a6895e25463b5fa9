/** A record as a busy installation has it after days and after a month, written with SQL. */
import type { Stage } from './console-stage.ts';

type Postgres = Stage['postgres'];

const OWNER = `SELECT workspace_id, source_id, id FROM destinations WHERE name = 'CRM sync'`;
/** Days that the demo shop has nothing of. */
const DAYS_AGO = [2, 3];

/**
 * Delivered on whole days of this week, evenly. A day is filled before it becomes a part of the record: PostgreSQL then sorts each
 * index once, which takes a tenth of the time that ten million insertions into it do.
 */
export function fillDeliveries({ run }: Postgres, amount: number): void {
  const perDay = Math.ceil(amount / DAYS_AGO.length);
  for (const daysAgo of DAYS_AGO) {
    const at = `day.start + make_interval(secs => 86400.0 * (n - 1) / ${perDay})`;
    run(`SET timezone = 'UTC';
      SET maintenance_work_mem = '512MB';
      CREATE TABLE filled (LIKE deliveries INCLUDING DEFAULTS);
      ALTER TABLE filled OWNER TO millrace_owner;
      INSERT INTO filled (workspace_id, id, received_on, received_at, source_id, destination_id, message_id, type, name,
          user_id, state, changed_at, attempts, first_attempt_at, last_attempt_at, last_status, counted)
        SELECT owner.workspace_id, 'dlv_load${daysAgo}_' || n, day.start, at, owner.source_id, owner.id, 'load${daysAgo}-' || n,
          'track', 'Order Completed', 'cus_' || n % 1000, 'delivered', at, 1, at, at, 200, 1
        FROM (${OWNER}) owner, (SELECT current_date - ${daysAgo} AS start) day, generate_series(1, ${perDay}) n,
          LATERAL (SELECT ${at} AS at) times;
      DO $$ BEGIN
        EXECUTE format('ALTER TABLE filled RENAME TO %I', 'deliveries_' || to_char(current_date - ${daysAgo}, 'YYYYMMDD'));
        EXECUTE format('ALTER TABLE deliveries ATTACH PARTITION %I FOR VALUES FROM (%L) TO (%L)',
          'deliveries_' || to_char(current_date - ${daysAgo}, 'YYYYMMDD'), current_date - ${daysAgo}, current_date - ${daysAgo - 1});
      END $$`);
  }
  run('ANALYZE deliveries');
  const filled = Number(run(`SELECT count(*) FROM deliveries WHERE id LIKE 'dlv\\_load%'`));
  if (filled < amount) throw new Error(`the record has ${filled} of ${amount} deliveries`);
}

/** Each minute of 30 days has deliveries and retries. The end of January and the first of March are 30 days apart: three months. */
export function fillCounts({ run }: Postgres): void {
  run(`SELECT make_record_partition('delivery_counts', first::date, (first + interval '1 month')::date)
    FROM generate_series(date_trunc('month', now() - interval '30 days'), now(), interval '1 month') first`);
  run(`INSERT INTO delivery_counts (workspace_id, destination_id, minute, outcome, error_class, count)
    SELECT workspace_id, id, date_trunc('minute', now()) - make_interval(mins => n), outcome, class, 40 + n % 97
    FROM (${OWNER}) owner, generate_series(10, 43150) n, (VALUES ('delivered', ''), ('retry', 'http_503')) kinds (outcome, class)
    ON CONFLICT DO NOTHING`);
}
