import type { Scene } from './profile-scene.ts';

export type DiskFigures = {
  profiles: number;
  /** Bytes of a profile, without its timer, memberships and history. */
  bytes: number;
  indexBytes: number;
  timerBytes: number;
  membershipBytes: number;
  changeBytes: number;
  /** The share of updates that stayed on their page and touched no index. */
  hotShare: number;
  deadShare: number;
  rewrites: number;
};

const SIZE = (table: string, count: string) =>
  `(SELECT sum(pg_total_relation_size(c.oid)) FROM pg_class c WHERE c.relkind = 'r' AND c.relname ~ '^${table}(_[0-9]+)?$') / greatest((SELECT count(*) FROM ${count}), 1)`;

const FIGURES = `SELECT (SELECT count(*) FROM profiles) AS profiles,
    (SELECT sum(pg_total_relation_size(relid)) FROM parts) / (SELECT count(*) FROM profiles) AS bytes,
    (SELECT sum(pg_indexes_size(relid)) FROM parts) / (SELECT count(*) FROM profiles) AS "indexBytes",
    ${SIZE('profile_timers', 'profile_timers')} AS "timerBytes", ${SIZE('memberships', 'memberships')} AS "membershipBytes",
    ${SIZE('membership_changes', 'membership_changes')} AS "changeBytes",
    (SELECT sum(n_tup_hot_upd) / greatest(sum(n_tup_upd), 1) FROM parts) AS "hotShare",
    (SELECT sum(n_dead_tup) FROM parts) / (SELECT count(*) FROM profiles) AS "deadShare",
    (SELECT sum(n_tup_upd) FROM parts) / (SELECT count(*) FROM profiles) AS rewrites`;

export function diskFigures({ postgres }: Scene): DiskFigures {
  const parts = `parts AS (SELECT * FROM pg_stat_user_tables WHERE relname = 'profiles')`;
  const told = postgres.run(`WITH ${parts} SELECT row_to_json(f) FROM (${FIGURES}) AS f`);
  const figures = Object.entries(JSON.parse(told) as DiskFigures);
  return Object.fromEntries(figures.map(([name, value]) => [name, Math.round(value * 1_000) / 1_000])) as DiskFigures;
}

export type VacuumFigures = { seconds: number; cpuSeconds: number };

/** The cost of one VACUUM after everything above. */
export function timeVacuum({ postgres, cpuUs }: Scene): VacuumFigures {
  const [startedAt, before] = [performance.now(), cpuUs()];
  postgres.run('VACUUM profiles');
  const round = (value: number) => Math.round(value * 100) / 100;
  return { seconds: round((performance.now() - startedAt) / 1_000), cpuSeconds: round((cpuUs() - before) / 1e6) };
}
