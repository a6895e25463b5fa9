/** Runs the timers of profiles in portions, between the batches of a reader. All readers share them. */
import type { Folding, TimersReport } from './fold-requests.ts';
import type { FoldTx } from './profiles/profile-store.ts';

/** `more`: the portion was full. */
type PortionRun = 'more' | 'done';
type Commit = (work: (tx: FoldTx) => Promise<TimersReport>, next: undefined) => Promise<TimersReport | 'again'>;

export type Timers = {
  /** One portion, up to this time; nothing while it is undefined. */
  run(commit: Commit, upTo: number | undefined): Promise<PortionRun>;
  /** The same, unless it was done a moment ago and the portion was not full. */
  runWhenDue(commit: Commit, upTo: number | undefined): Promise<PortionRun>;
  /** How long the first due profile has been due when it was last looked at. */
  overdueMs(): number;
};

export type TimersNeeds = { folding: Folding; now(): number; changed(): void };

const PORTION = 256;
const EVERY_MS = 1_000;

export function openTimers({ folding, now, changed }: TimersNeeds): Timers {
  let overdueMs = 0;
  let nextMs = 0;

  async function run(commit: Commit, upTo: number | undefined): Promise<PortionRun> {
    if (upTo === undefined) return 'done';
    const ran = await commit((tx) => folding.runTimers(tx, upTo, PORTION), undefined);
    if (ran === 'again') return 'more';
    folding.count({ transitions: ran.transitions, fates: {}, evictedIds: 0 });
    if (ran.transitions.length > 0) changed();
    overdueMs = ran.firstDueAt === undefined ? 0 : Math.max(0, now() - ran.firstDueAt);
    const isFull = ran.due === PORTION;
    nextMs = performance.now() + (isFull ? 0 : EVERY_MS);
    return isFull ? 'more' : 'done';
  }

  return {
    run,
    runWhenDue: (commit, upTo) => (performance.now() < nextMs ? Promise.resolve('done') : run(commit, upTo)),
    overdueMs: () => overdueMs,
  };
}
