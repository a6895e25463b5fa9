import type { Kept } from '../store/record-partitions.ts';

export type RecordSettings = {
  /** How long deliveries and their attempts are kept. */
  recordRetentionMs: number;
  counterRetentionMs: number;
  /** From 0 to 1: how many of the attempts that went well at once are kept. */
  sample: number;
};

/** The first days whose records and counters are kept, in UTC. */
export function firstKeptDays({ recordRetentionMs, counterRetentionMs }: RecordSettings, now: Date): Kept {
  const dayBefore = (ms: number) => new Date(now.getTime() - ms).toISOString().slice(0, 10);
  return { recordsFrom: dayBefore(recordRetentionMs), countsFrom: dayBefore(counterRetentionMs) };
}
