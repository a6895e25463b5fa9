import type { CountSum } from '../store/delivery-counts.ts';

export type OutcomeCounts = { delivered: number; retry: number; discarded: number; expired: number; skipped: number };

const NO_COUNTS: Readonly<OutcomeCounts> = { delivered: 0, retry: 0, discarded: 0, expired: 0, skipped: 0 };

export function addUp(sums: readonly CountSum[]): OutcomeCounts {
  const counts = { ...NO_COUNTS };
  for (const { outcome, count } of sums) {
    if (outcome in counts) counts[outcome as keyof OutcomeCounts] += Number(count);
  }
  return counts;
}
