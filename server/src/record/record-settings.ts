import type { Kept } from '../store/record-partitions.ts';

export type RecordSettings = {
  /** How long deliveries and their attempts are kept. */
  recordRetentionMs: number;
  counterRetentionMs: number;
  /** From 0 to 1: how many of the attempts that went well at once are kept. */
  sample: number;
  /** From 0 to 1: how many of the deliveries that succeeded at once have a row. */
  rows: number;
  /** How long outcomes are kept for programs that follow them; without it a day. */
  exportRetentionMs?: number;
};

/** The first day whose outcomes are kept for programs that follow them. */
export function firstExportedDay({ exportRetentionMs = 86_400_000 }: RecordSettings, now: Date): string {
  return new Date(now.getTime() - exportRetentionMs).toISOString().slice(0, 10);
}

export function retentionDays({ recordRetentionMs }: RecordSettings): number {
  return Math.ceil(recordRetentionMs / 86_400_000);
}

/** The first days whose records and counters are kept, in UTC. */
export function firstKeptDays({ recordRetentionMs, counterRetentionMs }: RecordSettings, now: Date): Kept {
  const dayBefore = (ms: number) => new Date(now.getTime() - ms).toISOString().slice(0, 10);
  return { recordsFrom: dayBefore(recordRetentionMs), countsFrom: dayBefore(counterRetentionMs) };
}
