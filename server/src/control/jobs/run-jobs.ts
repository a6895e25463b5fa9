import type { Logger } from '../../log.ts';
import { JOB_WAITS, type JobKind, type JobRow, type JobStep, releaseJob, saveStep } from '../../store/jobs.ts';
import type { Store } from '../../store/open-store.ts';
import type { FairShare } from '../http/fair-share.ts';
import { SLOTS } from './job-slots.ts';
import { type JobSlot, openPool } from './open-pool.ts';
import { openPace, type Pace } from './pace.ts';
import { every, pause } from '../../pause.ts';

/** One step of a job: short, so that a pause or cancel takes effect soon, and safe to repeat. */
export type JobWork = (job: JobRow, most: number) => Promise<JobStep>;

/** Makes the work for each kind of job, anew for each job: it may keep state while the job runs. */
export type Works = Readonly<Partial<Record<JobKind, () => JobWork>>>;

export type JobsNeeds = { store: Store; works: Works; log: Logger };

export type Jobs = AsyncDisposable & {
  /** Looks for jobs to claim now. */
  look(): void;
};

const LOOK_MS = 1_000;
/** The lease of a job: how long the job of a crashed process waits for another one. */
const LEASE_MS = 30_000;
/** The most items of one step. */
const STEP_SIZE = 1_000;
/** The pause between steps of a job with a rate limit. */
const STEP_MS = 100;
/** The pause after a step that reported a problem. */
const WAIT_MS = 250;
const TROUBLE_MS = { first: 500, most: 10_000 };

/** Claims jobs under a lease and runs them step by step, a few at a time, until it is disposed. */
export function startJobs(needs: JobsNeeds): Jobs {
  const life = new AbortController();
  const kinds = Object.keys(needs.works) as JobKind[];
  const pools = SLOTS.map((plan) =>
    openPool(
      { ...plan, kinds: plan.kinds.filter((kind) => kinds.includes(kind)) },
      {
        ...needs,
        signal: life.signal,
        leaseMs: LEASE_MS,
        run: (job, slot) => runJob(job, { ...needs, ...slot }),
      },
    ),
  );
  const look = () => {
    for (const pool of pools) pool.look();
  };
  let asking: Promise<void> | undefined;
  /** A database that does not answer is not our news. */
  const lookIfAny = async () => {
    const isAny = await needs.store.holds(JOB_WAITS).catch(() => false);
    asking = undefined;
    if (isAny) look();
  };
  const timer = every(LOOK_MS, () => {
    asking ??= lookIfAny();
  });
  look();
  return {
    look,
    async [Symbol.asyncDispose]() {
      timer[Symbol.dispose]();
      life.abort();
      await asking;
      await Promise.all(pools.map((pool) => pool.ended()));
    },
  };
}

type Run = JobsNeeds & JobSlot;

async function runJob(first: JobRow, run: Run): Promise<void> {
  const { log, lease, store, signal } = run;
  const { id, kind } = first;
  const rate = first.asked['ratePerSecond'];
  const pace = openPace(typeof rate === 'number' ? rate : undefined, () => performance.now());
  const work = run.works[kind]?.();
  if (work === undefined) return;
  log.info({ jobId: id, kind }, 'job.taken');
  let job: JobRow | undefined = first;
  let failures = 0;
  while (job?.state === 'running' && !signal.aborted) {
    try {
      job = await makeStep(job, work, pace, run);
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

/** Returns the job after the step; undefined when another process holds its lease by now. */
async function makeStep(
  job: JobRow,
  work: JobWork,
  pace: Pace,
  { store, lease, signal, steps }: Run,
): Promise<JobRow | undefined> {
  const most = Math.min(pace.room(), STEP_SIZE);
  if (most < 1) {
    await pause(STEP_MS, signal);
    return job;
  }
  const result = await inTurn(job, steps, async () => {
    const step = await work(job, most);
    pace.spend(step.done ?? 0);
    return { step, saved: await store.asSystem((tx) => saveStep(tx, job, { step, lease, leaseMs: LEASE_MS })) };
  });
  if (result === undefined) return job;
  const { step, saved } = result;
  if (step.problem !== undefined) await pause(WAIT_MS, signal);
  else if (pace.isLimited && saved?.state === 'running') await pause(STEP_MS, signal);
  return saved;
}

/** Workspaces take turns. Undefined when the wait took so long that the lease may be over. */
async function inTurn<T>(job: JobRow, steps: FairShare, make: () => Promise<T>): Promise<T | undefined> {
  using turn = await steps.enter(job.workspace_id);
  return turn === undefined ? undefined : await make();
}
