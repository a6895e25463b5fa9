/** A record as a busy installation has it after a day and after a month, written with SQL. */
import type { Stage } from './console-stage.ts';

type Postgres = Stage['postgres'];

const OWNER = `SELECT workspace_id, source_id, id FROM destinations WHERE name = 'CRM sync'`;

/** Delivered within the last 23 hours, evenly. */
export function fillDeliveries({ run }: Postgres, amount: number): void {
  for (const day of ['current_date', 'current_date - 1']) {
    run(`SELECT make_record_partition('deliveries', ${day}, ${day} + 1)`);
  }
  const at = `now() - make_interval(secs => 60 + 82800.0 * n / ${amount})`;
  run(`INSERT INTO deliveries (workspace_id, id, received_on, received_at, source_id, destination_id, message_id, type, name,
      user_id, state, changed_at, attempts, first_attempt_at, last_attempt_at, last_status, counted)
    SELECT owner.workspace_id, 'dlv_load' || n, (at AT TIME ZONE 'UTC')::date, at, owner.source_id, owner.id, 'load-' || n, 'track',
      'Order Completed', 'cus_' || n % 1000, 'delivered', at, 1, at, at, 200, 1
    FROM (${OWNER}) owner, generate_series(1, ${amount}) n, LATERAL (SELECT ${at} AS at) times`);
  run('ANALYZE deliveries');
}

/** Each minute of 30 days has deliveries and retries. */
export function fillCounts({ run }: Postgres): void {
  for (const month of ['now()', `now() - interval '30 days'`]) {
    const first = `date_trunc('month', ${month})::date`;
    run(`SELECT make_record_partition('delivery_counts', ${first}, (${first} + interval '1 month')::date)`);
  }
  run(`INSERT INTO delivery_counts (workspace_id, destination_id, minute, outcome, error_class, count)
    SELECT workspace_id, id, date_trunc('minute', now()) - make_interval(mins => n), outcome, class, 40 + n % 97
    FROM (${OWNER}) owner, generate_series(10, 43150) n, (VALUES ('delivered', ''), ('retry', 'http_503')) kinds (outcome, class)
    ON CONFLICT DO NOTHING`);
}
