import { randomUUID } from 'node:crypto';
import type { Logger } from '../../log.ts';
import { claimJob, hasUnclaimedJob, type JobRow } from '../../store/jobs.ts';
import { isUnavailable, type Store } from '../../store/open-store.ts';
import { type FairShare, openFairShare } from '../http/fair-share.ts';
import { fullWorkspaces, type HeldSlot, type SlotPlan, slotToGive } from './job-slots.ts';

/** A job runs until `signal` aborts, as the holder of `lease`; its steps take turns with those of other workspaces. */
export type JobSlot = { lease: string; signal: AbortSignal; steps: FairShare };

export type PoolNeeds = {
  store: Store;
  signal: AbortSignal;
  leaseMs: number;
  run(job: JobRow, slot: JobSlot): Promise<void>;
  log: Logger;
};

type Slot = HeldSlot & { stop: AbortController; ended: Promise<void> };

/** The slots for some kinds of jobs. A process runs the kinds it knows; those of a newer version wait for its processes. */
// oxlint-disable-next-line max-lines-per-function -- a factory: its parts share its state
export function openPool(plan: SlotPlan, { store, signal, leaseMs, run, log }: PoolNeeds) {
  const steps = openFairShare({ total: plan.steps, perKey: plan.steps, maxWaiting: Infinity, patienceMs: leaseMs });
  const held = new Set<Slot>();
  let looking: Promise<void> | undefined;

  /** False when there is no job for us. */
  async function takeOne(): Promise<boolean> {
    const lease = randomUUID();
    const wanted = { kinds: plan.kinds, notOf: fullWorkspaces([...held], plan) };
    const job = await store.asSystem((tx) => claimJob(tx, wanted, { lease, leaseMs }));
    if (job === undefined) return false;
    const stop = new AbortController();
    const ended = run(job, { lease, signal: AbortSignal.any([signal, stop.signal]), steps }).finally(() =>
      held.delete(slot),
    );
    const slot: Slot = { workspaceId: job.workspace_id, since: performance.now(), stop, ended };
    held.add(slot);
    return true;
  }

  /** For a workspace that has no slot here. The job that loses its slot is claimed again after those that wait longer. */
  async function giveOne(): Promise<void> {
    const slot = slotToGive([...held], performance.now());
    const wanted = { kinds: plan.kinds, notOf: [...held].map(({ workspaceId }) => workspaceId) };
    if (slot === undefined || !(await store.asSystem((tx) => hasUnclaimedJob(tx, wanted)))) return;
    slot.stop.abort();
  }

  async function lookOnce(): Promise<void> {
    try {
      while (held.size < plan.atOnce && !signal.aborted && (await takeOne())) continue;
      if (held.size >= plan.atOnce) await giveOne();
    } catch (error) {
      if (!isUnavailable(error)) log.warn({ error: String(error) }, 'jobs.not_seen');
    }
  }

  return {
    /** Takes jobs while slots are free, and gives a slot back when they are all taken. */
    look(): void {
      if (!signal.aborted) looking ??= lookOnce().finally(() => (looking = undefined));
    },
    async ended(): Promise<void> {
      await looking;
      await Promise.all([...held].map((slot) => slot.ended));
    },
  };
}
