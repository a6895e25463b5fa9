import { randomUUID } from 'node:crypto';
import type { Logger } from '../../log.ts';
import { claimJob, hasUnclaimedJob, type JobRow } from '../../store/jobs.ts';
import { isUnavailable, type Store } from '../../store/open-store.ts';
import { type FairShare, openFairShare } from '../http/fair-share.ts';
import { fullWorkspaces, type HeldSlot, type SlotPlan, slotToGive } from './job-slots.ts';

/** What a job is run with: until `signal`, as the holder of `lease`, its steps in turn with those of others. */
export type JobSlot = { lease: string; signal: AbortSignal; steps: FairShare };

export type PoolNeeds = {
  store: Store;
  signal: AbortSignal;
  leaseMs: number;
  run(job: JobRow, slot: JobSlot): Promise<void>;
  log: Logger;
};

type Slot = HeldSlot & { stop: AbortController; ended: Promise<void> };
type State = { plan: SlotPlan; held: Set<Slot>; steps: FairShare; needs: PoolNeeds };

/** The slots for some kinds of jobs. A kind that is not known here was asked of a newer version, whose processes do it. */
export function openPool(plan: SlotPlan, needs: PoolNeeds) {
  const { signal, log, leaseMs } = needs;
  const steps = openFairShare({ total: plan.steps, perKey: plan.steps, maxWaiting: Infinity, patienceMs: leaseMs });
  const state: State = { plan, held: new Set(), steps, needs };
  const { held } = state;
  let looking: Promise<void> | undefined;
  const lookOnce = async () => {
    try {
      while (held.size < plan.atOnce && !signal.aborted && (await takeOne(state))) continue;
      if (held.size >= plan.atOnce) await giveOne(state);
    } catch (error) {
      if (!isUnavailable(error)) log.warn({ error: String(error) }, 'jobs.not_seen');
    }
  };
  return {
    /** There may be a job to take up, or one to give back. */
    look(): void {
      if (!signal.aborted) looking ??= lookOnce().finally(() => (looking = undefined));
    },
    async ended(): Promise<void> {
      await looking;
      await Promise.all([...held].map((slot) => slot.ended));
    },
  };
}

/** False when there is none for us. */
async function takeOne({ plan, held, steps, needs }: State): Promise<boolean> {
  const lease = randomUUID();
  const wanted = { kinds: plan.kinds, notOf: fullWorkspaces([...held], plan) };
  const job = await needs.store.asSystem((tx) => claimJob(tx, wanted, { lease, leaseMs: needs.leaseMs }));
  if (job === undefined) return false;
  const stop = new AbortController();
  const signal = AbortSignal.any([needs.signal, stop.signal]);
  const ended = needs.run(job, { lease, signal, steps }).finally(() => held.delete(slot));
  const slot: Slot = { workspaceId: job.workspace_id, since: performance.now(), stop, ended };
  held.add(slot);
  return true;
}

/** For a workspace that has no slot here. The job that gives its slot back is claimed again behind those that wait longer. */
async function giveOne({ plan: { kinds }, held, needs }: State): Promise<void> {
  const slot = slotToGive([...held], performance.now());
  const notOf = [...held].map(({ workspaceId }) => workspaceId);
  if (slot === undefined || !(await needs.store.asSystem((tx) => hasUnclaimedJob(tx, { kinds, notOf })))) return;
  slot.stop.abort();
}
