import { deliveryId, newDelivery } from '../../domain/delivery.ts';
import { eraseProfiles } from '../../store/compute/erase-profiles.ts';
import { awaitRecorders } from '../../store/deliveries.ts';
import { eraseAnonymousRecords, eraseRecords, firstRecordedDay } from '../../store/erase-records.ts';
import type { JobRow, JobStep } from '../../store/jobs.ts';
import type { Store, Tx } from '../../store/open-store.ts';
import type { ControlSide } from '../../stream/open-control-side.ts';
import { eraseLetters, findInLanes } from './erase-in-engine.ts';
import type { LaneFeeder } from './feed-lane.ts';
import type { JobWork } from './run-jobs.ts';
import type { DeletionPlan } from './deletion-plan.ts';

export type DeletionNeeds = { store: Store; side: ControlSide; feeder: LaneFeeder; now(): Date };

export type DeletionReceipt = { toldAt?: Record<string, string>; erased?: Record<string, number> };
type Phase = 'notify' | 'settle' | 'lanes' | 'letters' | 'records';
type Position = {
  phase?: Phase;
  told?: number;
  lanesFound?: number;
  /** The next day of the record to be searched for devices. */
  day?: string;
};

/**
 * After this time every process knows of the erasure, and the attempts under way have ended: one takes five seconds at most.
 * An earlier search could miss deliveries that such an attempt puts back into a lane.
 */
const SETTLE_MS = 10_000;

/** Notifies every destination, then erases store by store: phase after phase, each safe to repeat. */
export function deletionWork(needs: DeletionNeeds): JobWork {
  return async (job) => {
    const plan = job.asked as DeletionPlan;
    const { phase = 'notify' } = job.position as Position;
    switch (phase) {
      case 'notify':
        return notify(job, plan, needs);
      case 'settle': {
        const isSettled = needs.now().getTime() >= Date.parse(plan.erasedBefore) + SETTLE_MS;
        return isSettled ? next(job, 'lanes') : { position: job.position, problem: 'waiting for attempts under way' };
      }
      case 'lanes':
        return lookAtLanes(job, plan, needs);
      case 'letters': {
        const letters = await eraseLetters(plan, needs);
        const before = (job.receipt as DeletionReceipt).erased?.['deadLetters'] ?? 0;
        const receipt = withErased(job, { deadLetters: before + letters });
        return letters === 0 ? { ...next(job, 'records'), receipt } : { position: job.position, receipt };
      }
      case 'records':
        return eraseRecord(job, plan, needs);
    }
  };
}

function next({ position }: JobRow, phase: Phase): JobStep {
  return { position: { ...position, phase } };
}

function withErased({ receipt }: JobRow, erased: Record<string, number>): Record<string, unknown> {
  return { ...receipt, erased: { ...(receipt as DeletionReceipt).erased, ...erased } };
}

/** Identifies a notification by the user's position in the request, so that nothing of the user is kept. */
export function notificationId(jobId: string, userIndex: number): string {
  return `delete-${jobId}-${userIndex}`;
}

/** One destination a step. */
async function notify(job: JobRow, plan: DeletionPlan, { feeder, now }: DeletionNeeds): Promise<JobStep> {
  const { told = 0 } = job.position as Position;
  const destinations = plan.destinations.filter(({ isTold }) => isTold);
  const place = destinations[told];
  if (place === undefined) return { ...next(job, 'settle'), ...(told === 0 ? { counted: 0 } : {}) };
  const { sourceId, destinationId } = place;
  const at = now();
  const timestamp = at.toISOString();
  const deliveries = (plan.userIds ?? []).map((userId, index) => {
    const messageId = notificationId(job.id, index);
    const event = { type: 'delete' as const, messageId, userId, receivedAt: timestamp, timestamp };
    return newDelivery(deliveryId(destinationId, sourceId, messageId), event, at.getTime());
  });
  const fed = await feeder.feed(destinationId, deliveries);
  if (fed !== 'stored') return { position: job.position, problem: `${destinationId} could not be told yet` };
  const toldAt = { ...(job.receipt as DeletionReceipt).toldAt, [destinationId]: timestamp };
  return {
    position: { phase: 'notify', told: told + 1 },
    done: deliveries.length,
    ...(told === 0 ? { counted: deliveries.length * destinations.length } : {}),
    receipt: { ...job.receipt, toldAt },
  };
}

/** Deliver removes the deliveries of erased users from lanes: this wakes it, until a search finds none. */
async function lookAtLanes(job: JobRow, plan: DeletionPlan, needs: DeletionNeeds): Promise<JobStep> {
  const found = await findInLanes(plan, needs);
  const { lanesFound = 0 } = job.position as Position;
  const most = Math.max(lanesFound, found);
  if (found === 0) return { ...next(job, 'letters'), receipt: withErased(job, { lanes: most }) };
  return { position: { ...job.position, lanesFound: most }, problem: `${found} deliveries still wait in lanes` };
}

/** Erases the record; the ids of the job itself go last, when it ends. */
async function eraseRecord(job: JobRow, plan: DeletionPlan, { store }: DeletionNeeds): Promise<JobStep> {
  await store.asSystem(awaitRecorders);
  const { userIds = [], anonymousIds = [], ...kept } = plan;
  const { userHashes, sourceIds } = plan;
  const workspaceId = job.workspace_id;
  const users = { workspaceId, userIds, userHashes, anonymousIds, sourceIds, before: new Date(plan.erasedBefore) };
  return store.asSystem(async (tx): Promise<JobStep> => {
    const day = await nextDay(tx, job, plan);
    if (day !== undefined) {
      const { deliveries, attempts } = await eraseAnonymousRecords(tx, users, day);
      const receipt = withErased(job, added(job, { deliveries, attempts }));
      return { position: { ...job.position, day: dayAfter(day) }, receipt };
    }
    const records = added(job, await eraseRecords(tx, users));
    const { erased } = job.receipt as DeletionReceipt;
    // A request that an older control process took.
    const profiles = erased?.['profiles'] === undefined ? (await eraseProfiles(tx, workspaceId, userIds)).counts : {};
    return { position: {}, receipt: withErased(job, { ...records, ...profiles }), asked: kept, end: 'done' };
  });
}

/** Devices are searched for day by day; undefined when there is no day left. */
async function nextDay(tx: Tx, { workspace_id, position }: JobRow, plan: DeletionPlan): Promise<string | undefined> {
  if (plan.anonymousIds === undefined || plan.anonymousIds.length === 0) return undefined;
  const { day = await firstRecordedDay(tx, workspace_id) } = position as Position;
  return day === undefined || day > plan.erasedBefore.slice(0, 10) ? undefined : day;
}

function dayAfter(day: string): string {
  const dayMs = 86_400_000;
  return new Date(Date.parse(day) + dayMs).toISOString().slice(0, 10);
}

/** To what earlier steps have erased. */
function added({ receipt }: JobRow, found: Record<string, number>): Record<string, number> {
  const { erased = {} } = receipt as DeletionReceipt;
  return Object.fromEntries(Object.entries(found).map(([store, count]) => [store, (erased[store] ?? 0) + count]));
}
