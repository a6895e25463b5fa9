import { spawnSync } from 'node:child_process';

export type RowCount = { days: number; perDay: number };

/** The UTC date this many days before today. */
export function dayOf(ago: number): string {
  return new Date(Date.now() - ago * 86_400_000).toISOString().slice(0, 10);
}

/** One workspace with everything in it: the worst case for its lists. Each day is filled first and indexed then. */
export async function loadRows(url: string, { days, perDay }: RowCount): Promise<void> {
  for (let ago = 0; ago < days; ago += 1) {
    const day = dayOf(ago);
    for (const sql of daySql(day, perDay)) runSql(url, sql);
    console.log(`loaded ${day}`);
  }
  runSql(url, 'VACUUM ANALYZE deliveries; VACUUM ANALYZE attempts');
}

export function runSql(url: string, sql: string): void {
  const done = spawnSync('psql', ['-v', 'ON_ERROR_STOP=1', '-q', url], { input: sql, encoding: 'utf8' });
  if (done.status !== 0) throw new Error(done.stderr);
}

/** The shape of the generated rows; the queries use the same. */
export const SHAPE = { destinations: 100, sources: 20, users: 1_000_000, names: 50 };

function daySql(day: string, perDay: number): string[] {
  const suffix = day.replaceAll('-', '');
  const end = new Date(Date.parse(day) + 86_400_000).toISOString().slice(0, 10);
  const attach = (table: string) =>
    `ALTER TABLE ${table} ATTACH PARTITION ${table}_${suffix} FOR VALUES FROM ('${day}') TO ('${end}');`;
  // Every fiftieth is in trouble or skipped, in turn.
  const state = `CASE WHEN g % 50 > 0 THEN 'delivered' ELSE (ARRAY['skipped', 'retrying', 'discarded', 'expired'])[1 + (g / 50) % 4] END`;
  return [
    `DROP TABLE IF EXISTS deliveries_${suffix}; DROP TABLE IF EXISTS attempts_${suffix};
     CREATE TABLE deliveries_${suffix} (LIKE deliveries INCLUDING DEFAULTS);
     CREATE TABLE attempts_${suffix} (LIKE attempts INCLUDING DEFAULTS);`,
    `INSERT INTO deliveries_${suffix}
     SELECT 'ws_bench', 'dlv_' || substr(md5('${day}' || g), 1, 27), '${day}', at, 'src_' || (g % ${SHAPE.sources}),
       'dst_' || (g % ${SHAPE.destinations}), 'm-${day}-' || (g / 2), 'track', 'Event ' || (g * 7 % ${SHAPE.names}),
       'user-' || (g * 31 % ${SHAPE.users}), NULL, state, CASE WHEN state = 'skipped' THEN 'blocked_event' END, at, 1, at, at,
       CASE WHEN state = 'delivered' THEN 200 ELSE 503 END,
       CASE WHEN state IN ('retrying', 'expired') THEN 'http_503' WHEN state = 'discarded' THEN 'http_404' END,
       'the receiver answered', NULL, 1
     FROM (SELECT g, timestamptz '${day} 00:00:00+00' + g * interval '1 day' / ${perDay} AS at, ${state} AS state
       FROM generate_series(0, ${perDay - 1}) AS g) AS made;`,
    `INSERT INTO attempts_${suffix}
     SELECT 'ws_bench', id, received_on, destination_id, first_attempt_at, 1,
       CASE WHEN state = 'retrying' THEN 'retry' ELSE state END, 20 + random() * 100,
       '[{"url":"https://hooks.example.com/orders","status":200,"address":"203.0.113.7","timings":{"totalMs":43.5}}]', NULL
     FROM deliveries_${suffix} WHERE state <> 'skipped';`,
    `SET maintenance_work_mem = '512MB'; ${attach('deliveries')} ${attach('attempts')}`,
  ];
}
