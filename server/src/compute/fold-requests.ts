/** Folds requests of a stream, and time, into profiles: the glue between the batches, the fold and the store. */
import type { AcceptedEvent } from '@millrace/contract';
import type { Counter, Metrics } from '../metrics/open-metrics.ts';
import type { BatchRequest } from '../stream/events/read-batches.ts';
import { runTimers } from './fold/advance-profiles.ts';
import { readBatch } from './fold/fold-batch.ts';
import type { KnownPlans } from './known-plans.ts';
import type { KnownSources } from './known-sources.ts';
import type { FoldTx, Transition } from './profiles/profile-store.ts';
import { areNew, type WithheldUsers } from './profiles/withheld-marks.ts';

export type Folding = {
  /** Looks up what the requests need beside the profiles. Before the transaction. */
  prepare(requests: readonly BatchRequest[]): Promise<void>;
  /**
   * Resolves with what has to be counted once the transaction is committed; with `again`, and without an effect, when a user was erased
   * since `prepare`.
   */
  foldRequests(tx: FoldTx, requests: readonly BatchRequest[]): Promise<Folded | 'again'>;
  /** Runs timers, at most so many. */
  runTimers(tx: FoldTx, upTo: number, most: number): Promise<TimersReport>;
  count(folded: Pick<Folded, 'transitions' | 'fates' | 'evictedIds'>): void;
};

export type Fate = 'folded' | 'duplicate' | 'nobody' | 'withheld';
export type Folded = {
  transitions: readonly Transition[];
  fates: Partial<Record<Fate, number>>;
  evictedIds: number;
};
export type TimersReport = { transitions: readonly Transition[]; due: number; firstDueAt: number | undefined };

export type FoldingNeeds = { plans: KnownPlans; sources: KnownSources; users: WithheldUsers; metrics: Metrics };

type Owned = { workspaceId: string; sourceId: string; event: AcceptedEvent };

// oxlint-disable-next-line max-lines-per-function -- a factory: its parts share its state
export function openFolding({ plans, sources, users, metrics }: FoldingNeeds): Folding {
  const events = metrics.counters('millrace_compute_events_total');
  const evicted = metrics.counter('millrace_compute_ids_evicted_total');
  const transitions = metrics.counters('millrace_compute_transitions_total');
  const ownedBy = (requests: readonly BatchRequest[]): Owned[] =>
    requests.flatMap(({ sourceId, events: all }) => {
      const workspaceId = sources.workspaceOf(sourceId);
      return workspaceId === undefined ? [] : all.map((event) => ({ workspaceId, sourceId, event }));
    });
  return {
    async prepare(requests) {
      await sources.learn(requests.map(({ sourceId }) => sourceId));
      await users.refresh(new Set(requests.flatMap(({ sourceId }) => sources.workspaceOf(sourceId) ?? [])));
    },
    async foldRequests(tx, requests) {
      const owned = ownedBy(requests);
      const marks = new Map(owned.map(({ workspaceId }) => [workspaceId, users.marksOf(workspaceId)]));
      const counted = owned.filter(
        ({ workspaceId, sourceId, event }) => marks.get(workspaceId)?.isWithheld(sourceId, event) === false,
      );
      const batch = readBatch(counted, plans.planOf);
      const loaded = await tx.load(batch.keys, batch.choose);
      if (!(await areNew(marks.values(), tx, users))) return 'again';
      const { counts, ...changes } = batch.fold(loaded);
      await tx.write(changes);
      const { folded, duplicates: duplicate, ofNobody: nobody, evictedIds } = counts;
      const withheld = owned.length - counted.length;
      return { transitions: changes.transitions, fates: { folded, duplicate, nobody, withheld }, evictedIds };
    },
    async runTimers(tx, upTo, most) {
      const due = await tx.loadDue(upTo, most);
      const changes = runTimers(due, plans.planOf, upTo);
      if (changes.profiles.length > 0) await tx.write(changes);
      return { transitions: changes.transitions, due: changes.profiles.length, firstDueAt: due[0]?.dueAt };
    },
    count({ transitions: made, fates, evictedIds }) {
      for (const { cause } of made) transitions(cause).add();
      for (const [fate, count] of Object.entries(fates)) addTo(events(fate), count);
      addTo(evicted, evictedIds);
    },
  };
}

function addTo(counter: Counter, count: number): void {
  if (count > 0) counter.add(count);
}
