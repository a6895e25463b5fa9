/** Jobs (replays, redrives, deletion requests) in words and figures. A job runs, is paused, and ends done, cancelled or failed. */
import { count } from '../../format/numbers.ts';
import { duration } from '../../format/times.ts';
import type { Standing } from '../../format/standings.ts';

export type Job = {
  id: string;
  state: 'running' | 'paused' | 'cancelled' | 'done' | 'failed';
  progress: { done: number; total: number | null; skipped: Record<string, number> };
  problem: string | null;
  createdAt: string;
  updatedAt: string;
  endedAt: string | null;
};

const STANDINGS: Readonly<Record<Job['state'], Standing>> = {
  running: { state: 'waiting', word: 'Running' },
  paused: { state: 'paused', word: 'Paused' },
  cancelled: { state: 'skipped', word: 'Cancelled' },
  done: { state: 'delivered', word: 'Done' },
  failed: { state: 'givenup', word: 'Failed' },
};

export function standingOfJob({ state }: Pick<Job, 'state'>): Standing {
  return STANDINGS[state];
}

export function isOpen({ state }: Pick<Job, 'state'>): boolean {
  return state === 'running' || state === 'paused';
}

export function skippedCount({ progress }: Pick<Job, 'progress'>): number {
  return Object.values(progress.skipped).reduce((sum, skipped) => sum + skipped, 0);
}

/** The share that is done, 0 to 1; undefined until the items are counted. A skipped item is done, too. */
export function shareOf(job: Job): number | undefined {
  const { done, total } = job.progress;
  if (job.state === 'done') return 1;
  if (total === null) return undefined;
  return total === 0 ? 1 : Math.min(1, done / total);
}

/** Deliveries a second since the job began; undefined while that says nothing. */
export function rateOf(job: Job, now: number): number | undefined {
  const seconds = ((job.endedAt === null ? now : Date.parse(job.endedAt)) - Date.parse(job.createdAt)) / 1_000;
  return job.progress.done === 0 || seconds < 1 ? undefined : job.progress.done / seconds;
}

/** "120 of 412, about 60 a second, done in about 5 s". */
export function progressText(job: Job, now: number): string {
  const { done, total } = job.progress;
  const first = total === null ? `${count(done)} so far, still counting` : `${count(done)} of ${count(total)}`;
  const rate = rateOf(job, now);
  if (job.state !== 'running' || rate === undefined) return first;
  const pace = `${first}, about ${rate < 10 ? rate.toFixed(1) : count(rate)} a second`;
  return total === null || done >= total ? pace : `${pace}, done in about ${duration(((total - done) / rate) * 1_000)}`;
}
