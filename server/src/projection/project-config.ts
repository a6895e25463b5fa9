import { MAIN_CELL } from '../domain/configuration.ts';
import type { Logger } from '../log.ts';
import type { Metrics } from '../metrics/open-metrics.ts';
import type { Store, Tx } from '../store/open-store.ts';
import { hasRepairsWaiting } from '../store/outbox.ts';
import { type ProjectionLag, projectionLag, retryFailures } from '../store/projection-failures.ts';
import type { ConfigWriter } from '../stream/config/config-writer.ts';
import { projectChanges } from './project-changes.ts';
import { NO_REMOVALS, type Removals, repairConfig, totalOf } from './repair-config.ts';
import { openBell, pause } from '../pause.ts';

export type ProjectorNeeds = {
  store: Store;
  configWriter: ConfigWriter;
  /** Whose bucket the writer writes; `main` by default. */
  cell?: string;
  /** Whether the bucket can be written now; without it each try finds out. A transaction of PostgreSQL is open meanwhile. */
  isReachable?(): boolean;
  /** Sources arrived in this cell: the projectors of all cells have something to do. */
  arrived?(): void;
  log: Logger;
  metrics?: Metrics;
};
export type Projector = AsyncDisposable & {
  /** A change was committed: it is projected now instead of at the next look. */
  changed(): void;
  /** Resolves with true when the whole bucket equals PostgreSQL, with false when the projector is disposed before. */
  settled(): Promise<boolean>;
  removals: RemovalGuard;
};

/** Many entries without a row wait for the operator: a restored old backup is more likely than that many deletions. */
export type RemovalGuard = {
  /** By the last comparison of this process. */
  waiting(): Removals;
  /** Removes all entries that have no row now; resolves with their number. */
  confirm(): Promise<number>;
};

/** How often the outbox is polled for changes by other processes. */
const LOOK_MS = 1_000;
/** After another process held the lock: it may have read the outbox before our change was there. */
const BUSY_MS = 100;
const BACK_OFF_MS = { first: 100, most: 1_000 };
const REPAIR_MS = 5 * 60_000;
const REPAIR_RETRY_MS = 5_000;
/** How often refused entries are retried, and how many of them at once. */
const SET_ASIDE_MS = 5_000;
const SET_ASIDE_AT_ONCE = 200;
/** Backoff between comparisons: each reads the whole bucket, and refused entries may keep it unequal for long. */
const SETTLE_MS = { first: 500, most: 30_000 };

const TO_CONFIRM =
  'Entries of the config bucket have no row in PostgreSQL. If it was restored from an older backup, restore the newer rows; if they should go, confirm: POST /api/v1/configuration/removals/confirm';

/**
 * Keeps the config bucket equal to PostgreSQL, with three loops. The first projects the outbox, change by change. The second
 * compares the whole bucket with all rows at the start and every few minutes, and adds the differences to the outbox. The third
 * puts entries that a bucket refused back into the outbox; that of `main` does it for all cells. A commit, a comparison and a retry wake the first loop. Of all
 * control processes one projects at a time, under a lock in PostgreSQL.
 */
// oxlint-disable-next-line max-lines-per-function -- a factory: its parts share its state
export function startProjector({
  store,
  configWriter,
  cell = MAIN_CELL,
  log,
  metrics,
  ...given
}: ProjectorNeeds): Projector {
  const life = new AbortController();
  const { signal } = life;
  const bell = openBell();
  /** Of all cells, in the projector of `main`. */
  let lag: ProjectionLag[] = [{ cell, failures: 0, oldestSeconds: 0 }];
  let waiting = NO_REMOVALS;
  /** Since the start of this process. */
  let isCompared = false;
  metrics?.gauges('millrace_projection_set_aside', () => lag.map((each) => [each.cell, each.failures]));
  metrics?.gauges('millrace_projection_lag_seconds', () => lag.map((each) => [each.cell, each.oldestSeconds]));

  const held = (removals: Removals) => {
    waiting = removals;
    if (totalOf(removals) > 0) log.error({ ...removals, toDo: TO_CONFIRM }, 'removals.held');
  };
  const hasRepairs = (tx: Tx) => hasRepairsWaiting(tx, cell);
  const compare = (isConfirmed = false) => repairConfig({ store, configWriter, cell, held, isConfirmed });

  /** A comparison finds nothing while repairs wait: so they are looked for before and after it. */
  async function compareWhole(): Promise<boolean> {
    const hadRepairs = await store.asSystem(hasRepairs);
    const differences = await compare();
    return !hadRepairs && differences === 0 && !(await store.asSystem(hasRepairs));
  }

  async function keepProjecting(): Promise<void> {
    let failures = 0;
    while (!signal.aborted) {
      if (given.isReachable?.() === false) {
        await pause(LOOK_MS, signal);
        continue;
      }
      try {
        const projected = await projectChanges({ store, configWriter, cell, mayArrive: isCompared, log });
        if (failures > 0) log.info({ failures }, 'projection.recovered');
        failures = 0;
        if (projected === 'busy') await pause(BUSY_MS, signal);
        else if (projected === 'done') await bell.wait(LOOK_MS);
        else if (projected === 'arrived') given.arrived?.();
      } catch (error) {
        failures += 1;
        log.warn({ error: String(error), failures }, 'projection.failed');
        await pause(Math.min(BACK_OFF_MS.first * 2 ** failures, BACK_OFF_MS.most), signal);
      }
    }
  }

  async function keepComparing(): Promise<void> {
    while (!signal.aborted) {
      try {
        const startedAt = performance.now();
        const differences = await compare();
        isCompared = true;
        log.info({ differences, durationMs: Math.round(performance.now() - startedAt) }, 'projection.compared');
        bell.ring();
        await pause(REPAIR_MS, signal);
      } catch (error) {
        log.warn({ error: String(error) }, 'projection.comparison_failed');
        await pause(REPAIR_RETRY_MS, signal);
      }
    }
  }

  async function keepRetrying(): Promise<void> {
    const due = { afterSeconds: SET_ASIDE_MS / 1_000, limit: SET_ASIDE_AT_ONCE };
    for (;;) {
      await pause(SET_ASIDE_MS, signal);
      if (signal.aborted) return;
      try {
        lag = await store.asSystem(projectionLag);
        if (lag.every(({ failures }) => failures === 0)) continue;
        await store.asSystem((tx) => retryFailures(tx, due));
        bell.ring();
      } catch (error) {
        log.warn({ error: String(error) }, 'projection.retry_failed');
      }
    }
  }

  const retrying = cell === MAIN_CELL ? keepRetrying() : undefined;
  const running = Promise.all([keepProjecting(), keepComparing(), retrying]);
  return {
    changed: bell.ring,
    async settled() {
      for (let waitMs = SETTLE_MS.first; !signal.aborted; waitMs = Math.min(waitMs * 2, SETTLE_MS.most)) {
        const isEqual = await compareWhole().catch((error: unknown) => {
          log.warn({ error: String(error) }, 'projection.comparison_failed');
          return false;
        });
        if (isEqual) return true;
        bell.ring();
        await pause(waitMs, signal);
      }
      return false;
    },
    removals: {
      waiting: () => waiting,
      async confirm() {
        const entries = totalOf(waiting);
        await compare(true);
        log.warn({ entries }, 'removals.confirmed');
        bell.ring();
        return entries;
      },
    },
    async [Symbol.asyncDispose]() {
      life.abort();
      bell.ring();
      await running;
    },
  };
}
