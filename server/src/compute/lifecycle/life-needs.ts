import { setTimeout as sleep } from 'node:timers/promises';
import type { Logger } from '../../log.ts';
import type { LifecycleStore } from '../../store/compute/open-profile-store.ts';
import type { Store, Tx } from '../../store/open-store.ts';
import type { BatchRequest } from '../../stream/events/read-batches.ts';
import type { ComputeSide } from '../../stream/open-compute-side.ts';
import type { Plan } from '../fold/plan.ts';
import type { FoldTx, PositionState, Transition } from '../profiles/profile-store.ts';
import type { WithheldUsers } from '../profiles/withheld-marks.ts';

/** The parts of the role that the lifecycle works with: the same as the readers of this process. */
export type LifeNeeds = {
  store: Store;
  profiles: LifecycleStore;
  side: ComputeSide;
  plans: { refresh(tx: FoldTx): Promise<void>; forget(): void; planOf(workspaceId: string): Plan | undefined };
  sources: {
    workspaceOf(sourceId: string): string | undefined;
    isWanted(sourceId: string): boolean;
    learn(sourceIds: Iterable<string>): Promise<void>;
  };
  users: WithheldUsers;
  folding: {
    prepare(requests: readonly BatchRequest[]): Promise<void>;
    foldRequests(tx: FoldTx, requests: readonly BatchRequest[]): Promise<unknown>;
    count(made: { transitions: readonly Transition[]; fates: object; evictedIds: number }): void;
  };
  watermark: { now(): number | undefined };
  log: Logger;
};

/** How much is read or written at a time. */
export type Portions = {
  /** Profiles of a page, read without locks, and those that one transaction writes. */
  read: number;
  written: number;
  /** Stored events in memory, and those that one transaction folds. */
  pass: number;
  events: number;
  /** Rows of other tables. */
  rows: number;
};

export const PORTIONS: Portions = { read: 2_000, written: 500, pass: 50_000, events: 1_000, rows: 1_000 };

/** Every job of the lifecycle gets these. */
export type JobNeeds = LifeNeeds & {
  portions: Portions;
  /** One step: everything that it changes, and its mark. The plans are those of the transaction, or newer. */
  step<T>(work: (tx: FoldTx, sql: Tx) => Promise<T>): Promise<T>;
  /** Between two steps: readers that are behind come first. Rejects when the job has to stop. */
  turn(): Promise<void>;
  /** Definitions were changed: wakes the readers. */
  changedDefinitions(): void;
  /** Transitions were written: wakes the relay. */
  changed(): void;
};

/** The job is not wanted any more: its definition was edited again or deleted, or another job has done it. */
export class JobEnded extends Error {
  override readonly name = 'JobEnded';
}

/** The job has to wait for another one: it is begun again later. */
export class JobWaiting extends Error {
  override readonly name = 'JobWaiting';
}

const LOOK_MS = 50;

/** The time at which profiles are evaluated: everything that was received before it has been folded. */
export async function foldedUpTo(needs: JobNeeds): Promise<number> {
  for (;;) {
    const now = needs.watermark.now();
    if (now !== undefined) return now;
    await sleep(LOOK_MS);
    await needs.turn();
  }
}

/** Resolves when the readers of all streams fold with the definitions of this change, or newer ones. */
export async function untilReadersKnow(change: number, needs: JobNeeds): Promise<void> {
  await untilAll(needs, async (names) => {
    const rows = await needs.profiles.positions();
    const known = new Set(rows.filter((row) => knows(row, change)).map(({ stream }) => stream));
    return names.every((name) => known.has(name));
  });
}

function knows({ definitionsVersion, position }: PositionState, change: number): boolean {
  return position !== undefined && definitionsVersion >= change;
}

/** Asks again and again, with the names of all streams, until it is true. */
export async function untilAll(needs: JobNeeds, isSo: (names: readonly string[]) => Promise<boolean>): Promise<void> {
  for (let waitMs = LOOK_MS; ; waitMs = Math.min(waitMs * 1.2, 1_000)) {
    const names = await needs.side.streams();
    if (await isSo(names)) return;
    await sleep(waitMs);
    await needs.turn();
  }
}
