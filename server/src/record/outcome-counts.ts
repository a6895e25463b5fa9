import type { CountSum } from '../store/delivery-counts.ts';

export type OutcomeCounts = { delivered: number; retry: number; discarded: number; expired: number; skipped: number };

const NO_COUNTS: Readonly<OutcomeCounts> = { delivered: 0, retry: 0, discarded: 0, expired: 0, skipped: 0 };

/** The sums of each step of time, in the order of the rows. */
export function seriesOf(sums: readonly CountSum[]): ({ at: string } & OutcomeCounts)[] {
  return [...Map.groupBy(sums, ({ at }) => at.toISOString())].map(([at, own]) => ({ at, ...addUp(own) }));
}

export function addUp(sums: readonly CountSum[]): OutcomeCounts {
  const counts = { ...NO_COUNTS };
  for (const { outcome, count } of sums) {
    if (outcome in counts) counts[outcome as keyof OutcomeCounts] += Number(count);
  }
  return counts;
}
