import { randomUUID } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Logger } from '../../log.ts';
import { claimJob, type JobKind, type JobRow, type JobStep, releaseJob, saveStep } from '../../store/jobs.ts';
import { isUnavailable, type Store } from '../../store/open-store.ts';
import { openPace, type Pace } from './pace.ts';

/** One step of a job: short, so that a pause or an end is heard soon, and safe to be done twice. */
export type JobWork = (job: JobRow, most: number) => Promise<JobStep>;

/** Makes what does a kind of job, anew for each job that is taken up: it may learn while it runs. */
export type Works = Readonly<Partial<Record<JobKind, () => JobWork>>>;

export type JobsNeeds = { store: Store; works: Works; log: Logger };

export type Jobs = AsyncDisposable & {
  /** There may be a job to take up now. */
  look(): void;
};

const LOOK_MS = 1_000;
/** How long the job of a crashed process waits for another one. */
const LEASE_MS = 30_000;
const AT_ONCE = 4;
/** How much one step may do when nothing limits it. */
const STEP_SIZE = 1_000;
/** With a limit, how often a step is made. */
const STEP_MS = 100;
/** A step that found a reason to wait. */
const WAIT_MS = 250;
const TROUBLE_MS = { first: 500, most: 10_000 };

/** Runs the jobs that nobody else runs, a few at a time, for as long as we live. */
export function startJobs(needs: JobsNeeds): Jobs {
  const life = new AbortController();
  const running = new Set<Promise<void>>();
  let looking: Promise<void> | undefined;
  const lookOnce = async () => {
    try {
      while (running.size < AT_ONCE && !life.signal.aborted && (await takeOne())) continue;
    } catch (error) {
      if (!isUnavailable(error)) needs.log.warn({ error: String(error) }, 'jobs.not_seen');
    }
  };
  const look = () => {
    if (!life.signal.aborted) looking ??= lookOnce().finally(() => (looking = undefined));
  };
  const takeOne = async (): Promise<boolean> => {
    const lease = randomUUID();
    const job = await needs.store.asSystem((tx) => claimJob(tx, lease, LEASE_MS));
    if (job === undefined) return false;
    const run = runJob(job, { ...needs, lease, signal: life.signal }).finally(() => running.delete(run));
    running.add(run);
    return true;
  };
  const timer = setInterval(look, LOOK_MS);
  look();
  return {
    look,
    async [Symbol.asyncDispose]() {
      clearInterval(timer);
      life.abort();
      await looking;
      await Promise.all(running);
    },
  };
}

type Run = JobsNeeds & { lease: string; signal: AbortSignal };

async function runJob(first: JobRow, run: Run): Promise<void> {
  const { log, lease, store, signal } = run;
  const { id, kind } = first;
  const rate = first.asked['ratePerSecond'];
  const pace = openPace(typeof rate === 'number' ? rate : undefined, () => performance.now());
  const work = run.works[kind]?.();
  if (work === undefined) {
    // Asked of a newer version: its processes do it when they are there.
    log.warn({ jobId: id, kind }, 'job.unknown');
    return;
  }
  log.info({ jobId: id, kind }, 'job.taken');
  let job: JobRow | undefined = first;
  let failures = 0;
  while (job?.state === 'running' && !signal.aborted) {
    try {
      job = await makeStep(job, { pace, work }, run);
      failures = 0;
    } catch (error) {
      failures += 1;
      log.warn({ jobId: id, kind, error: String(error) }, 'job.stumbled');
      await pause(Math.min(TROUBLE_MS.first * 2 ** failures, TROUBLE_MS.most), signal);
    }
  }
  await store.asSystem((tx) => releaseJob(tx, id, lease)).catch(() => undefined);
  log.info({ jobId: id, kind, state: job?.state ?? 'taken over' }, 'job.left');
}

type Doing = { pace: Pace; work: JobWork };

/** Undefined when somebody else has the job by now. */
async function makeStep(job: JobRow, { pace, work }: Doing, run: Run): Promise<JobRow | undefined> {
  const { store, lease, signal } = run;
  const most = Math.min(pace.room(), STEP_SIZE);
  if (most < 1) {
    await pause(STEP_MS, signal);
    return job;
  }
  const step = await work(job, most);
  pace.spend(step.done ?? 0);
  const saved = await store.asSystem((tx) => saveStep(tx, job, { step, lease, leaseMs: LEASE_MS }));
  if (step.problem !== undefined) await pause(WAIT_MS, signal);
  else if (pace.isLimited && saved?.state === 'running') await pause(STEP_MS, signal);
  return saved;
}

async function pause(ms: number, signal: AbortSignal): Promise<void> {
  await sleep(ms, undefined, { signal }).catch(() => undefined);
}
