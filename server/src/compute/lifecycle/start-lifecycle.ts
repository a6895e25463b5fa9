/**
 * Moves definitions through their lives. One process of all holds the position `lifecycle`; the tables tell which work is left, so the
 * next holder goes on where this one stops. Jobs run side by side, a few at a time, and each in small steps: a job ends when it is done,
 * when it is not wanted any more, or by trouble, and then it is begun again.
 */
import { setImmediate as breathe } from 'node:timers/promises';
import { type Bell, pause } from '../../pause.ts';
import { type LifeJob, listJobs } from '../../store/definitions/life-jobs.ts';
import { isOfDatabase, isUnavailable } from '../../store/open-store.ts';
import { StalePlan } from '../fold/evaluate.ts';
import { type HeldPosition, LostPosition } from '../profiles/profile-store.ts';
import { computeVersion } from './compute-version.ts';
import { endDefinition } from './end-definition.ts';
import { type JobNeeds, JobEnded, type LifeNeeds, JobWaiting, PORTIONS } from './life-needs.ts';
import { nameOf, nextJobs } from './next-jobs.ts';
import { StreamChanged } from './read-past.ts';
import { clearWorkspace, readWorkspacePast } from './read-workspace.ts';
import { syncDestination } from './sync-destination.ts';

export const LIFECYCLE = 'lifecycle';

export type LifecycleNeeds = LifeNeeds & {
  /** Rings when definitions have changed. */
  bell: Bell;
  /** How far the readers of this process are behind. */
  lagMs(): number;
  changed(): void;
  changedDefinitions(): void;
};

/** `ended` rejects when another process has taken over, or by trouble. */
export type Lifecycle = { stop(): Promise<void>; ended: Promise<'stopped'> };

const LOOK_MS = 1_000;
const BEAT_MS = 2_000;
const MOST_JOBS = 4;
/** A reader that is so far behind comes first, for a while: the job must end some day. */
const BEHIND = { lagMs: 300, patienceMs: 1_000, lookMs: 25 };
const RETRY_MS = 100;
const TRIES = 20;

class Stopped extends Error {
  override readonly name = 'Stopped';
}

// oxlint-disable-next-line max-lines-per-function -- a factory: its parts share its state
export function startLifecycle(held: HeldPosition, needs: LifecycleNeeds): Lifecycle {
  const { store, profiles, plans, side, bell, log } = needs;
  const life = new AbortController();
  const { signal } = life;
  const running = new Map<string, LifeJob & { work: Promise<void> }>();
  const begun = new Map<string, number>();
  let jobsBegun = 0;
  let lost: unknown;

  const jobNeeds: JobNeeds = {
    ...needs,
    portions: PORTIONS,
    async step(work) {
      for (let tries = 1; ; tries += 1) {
        try {
          return await profiles.foldWith(held, async (tx, sql) => {
            await plans.refresh(tx);
            return work(tx, sql);
          });
        } catch (error) {
          if (error instanceof StalePlan) plans.forget();
          else if (!isOfDatabase(error) || isUnavailable(error) || error instanceof LostPosition) throw error;
          if (tries === TRIES) throw error;
          await pause(RETRY_MS, signal);
          stopIfAsked();
        }
      }
    },
    async turn() {
      await breathe();
      const untilMs = performance.now() + BEHIND.patienceMs;
      while (!signal.aborted && needs.lagMs() > BEHIND.lagMs && performance.now() < untilMs) {
        await pause(BEHIND.lookMs, signal);
      }
      stopIfAsked();
    },
  };

  function stopIfAsked(): void {
    if (signal.aborted) throw new Stopped('the lifecycle is given back');
  }

  async function lookOn(): Promise<'stopped'> {
    while (!signal.aborted) {
      const position = { createdAt: 0, sequence: 0, storedAt: 0, clock: side.now(), left: [] };
      await profiles.fold(held, (tx) => tx.moveTo(position));
      const jobs = await store.asSystem(listJobs);
      const names = new Set(jobs.map(nameOf));
      for (const name of begun.keys()) if (!names.has(name)) begun.delete(name);
      for (const job of nextJobs(jobs, { running, begun, most: MOST_JOBS })) start(job);
      await bell.wait(Math.min(LOOK_MS, BEAT_MS));
    }
    await allEnded();
    if (lost !== undefined) throw lost;
    return 'stopped';
  }

  function start(job: LifeJob): void {
    const name = nameOf(job);
    begun.set(name, (jobsBegun += 1));
    const work = runJob(job, jobNeeds)
      .catch((error: unknown) => noteEnd(job, error))
      .finally(() => {
        running.delete(name);
        bell.ring();
      });
    running.set(name, { ...job, work });
  }

  async function allEnded(): Promise<void> {
    await Promise.all([...running.values()].map(({ work }) => work));
  }

  async function noteEnd(job: LifeJob, error: unknown): Promise<void> {
    if (error instanceof Stopped) return;
    if (error instanceof LostPosition) {
      lost = error;
      life.abort();
      return;
    }
    const isTrouble = isUnavailable(error) || error instanceof StreamChanged;
    const isWaiting = error instanceof JobEnded || error instanceof JobWaiting;
    if (!isWaiting) log[isTrouble ? 'warn' : 'error']({ ...job, error: String(error) }, 'lifecycle.interrupted');
    await pause(isWaiting ? RETRY_MS : LOOK_MS, signal);
  }

  const ended = lookOn().catch(async (error: unknown) => {
    life.abort();
    await allEnded();
    throw error;
  });
  return {
    ended,
    async stop() {
      life.abort();
      bell.ring();
      await ended.catch(() => undefined);
    },
  };
}

/** Resolves when the job is done. */
export function runJob(job: LifeJob, needs: JobNeeds): Promise<void> {
  switch (job.kind) {
    case 'workspace':
      return (job.state === 'clearing' ? clearWorkspace : readWorkspacePast)(job.workspaceId, needs);
    case 'version':
      return computeVersion(job, needs);
    case 'deletion':
      return endDefinition(job, needs);
    case 'sync':
      return syncDestination(job, needs);
  }
}
