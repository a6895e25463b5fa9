import type { LifeJob } from '../../store/definitions/life-jobs.ts';

export type JobTurns = {
  /** The jobs that run now, by name. */
  running: ReadonlyMap<string, Pick<LifeJob, 'workspaceId'>>;
  /** When a job was last begun: the higher, the later. */
  begun: ReadonlyMap<string, number>;
  /** How many may run at a time. */
  most: number;
};

/**
 * The jobs that are begun now. First come those of workspaces with the fewest jobs that run, and of these the ones that have waited
 * longest: a job that ends because it has to wait is begun again after all others had their turn. One workspace never gets every place: its
 * jobs may take hours.
 */
export function nextJobs(jobs: readonly LifeJob[], { running, begun, most }: JobTurns): LifeJob[] {
  const counts = new Map<string, number>();
  const countOf = ({ workspaceId }: Pick<LifeJob, 'workspaceId'>) => counts.get(workspaceId) ?? 0;
  const count = (job: Pick<LifeJob, 'workspaceId'>) => counts.set(job.workspaceId, countOf(job) + 1);
  for (const job of running.values()) count(job);
  const lastOf = (job: LifeJob) => begun.get(nameOf(job)) ?? 0;
  const waiting = jobs.filter((job) => !running.has(nameOf(job))).toSorted((a, b) => lastOf(a) - lastOf(b));
  const next: LifeJob[] = [];
  while (running.size + next.length < most) {
    const [job] = waiting
      .filter((each) => !next.includes(each) && countOf(each) < most - 1)
      .toSorted((a, b) => countOf(a) - countOf(b));
    if (job === undefined) break;
    count(job);
    next.push(job);
  }
  return next;
}

export function nameOf(job: LifeJob): string {
  if (job.kind === 'workspace') return `workspace ${job.workspaceId}`;
  if (job.kind === 'sync') return `sync ${job.definition} ${job.destination}`;
  return `${job.kind} ${job.definition}`;
}
