import { setTimeout as sleep } from 'node:timers/promises';
import type { Logger } from '../log.ts';
import type { Metrics } from '../metrics/open-metrics.ts';
import type { Store } from '../store/open-store.ts';
import { hasRepairsWaiting } from '../store/outbox.ts';
import { type ProjectionLag, projectionLag, retryFailures } from '../store/projection-failures.ts';
import type { ConfigWriter } from '../stream/config/config-writer.ts';
import { projectChanges } from './project-changes.ts';
import { NO_REMOVALS, type Removals, repairConfig, totalOf } from './repair-config.ts';

export type ProjectorNeeds = { store: Store; configWriter: ConfigWriter; log: Logger; metrics?: Metrics };
export type Projector = AsyncDisposable & {
  /** Something was committed that the bucket should hear of now, not at the next look. */
  changed(): void;
  /** Resolves with true when the whole bucket has been found equal to PostgreSQL, with false when we end before. */
  settled(): Promise<boolean>;
  removals: RemovalGuard;
};

/** Entries that would go because they have no row, too many to believe it. */
export type RemovalGuard = {
  /** By the last comparison of this process. */
  waiting(): Removals;
  /** Removes all entries that have no row now; answers how many. */
  confirm(): Promise<number>;
};

/** Changes by other processes are found by looking. */
const LOOK_MS = 1_000;
/** Another process has the lock: it may have looked before our change was there. */
const BUSY_MS = 100;
const BACK_OFF_MS = { first: 100, most: 1_000 };
const REPAIR_MS = 5 * 60_000;
const REPAIR_RETRY_MS = 5_000;
/** How often what the bucket did not take is tried again, and how many of them at once. */
const SET_ASIDE_MS = 5_000;
const SET_ASIDE_AT_ONCE = 200;
/** A comparison reads the whole bucket, and what was set aside may keep it from being equal for long. */
const SETTLE_MS = { first: 500, most: 30_000 };

/** Keeps the config bucket equal to PostgreSQL: change by change, and as a whole at the start and every few minutes. */
export function startProjector({ store, configWriter, log, metrics }: ProjectorNeeds): Projector {
  let lag: ProjectionLag = { failures: 0, oldestSeconds: 0 };
  metrics?.gauge('millrace_projection_set_aside', () => lag.failures);
  metrics?.gauge('millrace_projection_lag_seconds', () => lag.oldestSeconds);
  const life = new AbortController();
  const bell = newBell();
  let waiting = NO_REMOVALS;
  metrics?.gauge('millrace_removals_waiting', () => totalOf(waiting));
  const held = (removals: Removals) => {
    waiting = removals;
    if (totalOf(removals) > 0) log.error({ ...removals, toDo: TO_CONFIRM }, 'removals.held');
  };
  const needs = { store, configWriter, log, bell, held, signal: life.signal };
  const seen = (now: ProjectionLag) => void (lag = now);
  const running = Promise.all([keepProjecting(needs), keepRepairing(needs), keepRetrying(needs, seen)]);
  return {
    changed: bell.ring,
    settled: () => untilSettled(needs),
    removals: {
      waiting: () => waiting,
      async confirm() {
        const entries = totalOf(waiting);
        await repairConfig({ store, configWriter, held, isConfirmed: true });
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

const TO_CONFIRM =
  'Entries of the config bucket have no row in PostgreSQL. If it was restored from an older backup, restore the newer rows; if they should go, confirm: POST /api/v1/configuration/removals/confirm';

type LoopNeeds = ProjectorNeeds & { bell: Bell; signal: AbortSignal; held(removals: Removals): void };

async function keepProjecting({ bell, signal, log, ...needs }: LoopNeeds): Promise<void> {
  let failures = 0;
  while (!signal.aborted) {
    try {
      const projected = await projectChanges({ ...needs, log });
      if (failures > 0) log.info({ failures }, 'projection.recovered');
      failures = 0;
      if (projected === 'busy') await pause(BUSY_MS, signal);
      else if (projected === 'done') await bell.wait(LOOK_MS);
    } catch (error) {
      failures += 1;
      log.warn({ error: String(error), failures }, 'projection.failed');
      await pause(Math.min(BACK_OFF_MS.first * 2 ** failures, BACK_OFF_MS.most), signal);
    }
  }
}

async function keepRepairing({ bell, signal, log, ...needs }: LoopNeeds): Promise<void> {
  while (!signal.aborted) {
    try {
      const startedAt = performance.now();
      const differences = await repairConfig(needs);
      log.info({ differences, durationMs: Math.round(performance.now() - startedAt) }, 'projection.compared');
      bell.ring();
      await pause(REPAIR_MS, signal);
    } catch (error) {
      log.warn({ error: String(error) }, 'projection.comparison_failed');
      await pause(REPAIR_RETRY_MS, signal);
    }
  }
}

/** What was set aside is tried again; how much that is, and how late changes are, is looked at with it. */
async function keepRetrying(
  { bell, signal, log, store }: LoopNeeds,
  seen: (lag: ProjectionLag) => void,
): Promise<void> {
  const due = { afterSeconds: SET_ASIDE_MS / 1_000, limit: SET_ASIDE_AT_ONCE };
  while (!signal.aborted) {
    await pause(SET_ASIDE_MS, signal);
    if (signal.aborted) return;
    try {
      const lag = await store.asSystem(projectionLag);
      seen(lag);
      if (lag.failures === 0) continue;
      await store.asSystem((tx) => retryFailures(tx, due));
      bell.ring();
    } catch (error) {
      log.warn({ error: String(error) }, 'projection.retry_failed');
    }
  }
}

async function untilSettled({ bell, signal, ...needs }: LoopNeeds): Promise<boolean> {
  for (let waitMs = SETTLE_MS.first; !signal.aborted; waitMs = Math.min(waitMs * 2, SETTLE_MS.most)) {
    // The comparison finds nothing while repairs wait: they are asked about before and after.
    const hadRepairs = await needs.store.asSystem(hasRepairsWaiting);
    const differences = await repairConfig(needs);
    if (!hadRepairs && differences === 0 && !(await needs.store.asSystem(hasRepairsWaiting))) return true;
    bell.ring();
    await pause(waitMs, signal);
  }
  return false;
}

async function pause(ms: number, signal: AbortSignal): Promise<void> {
  await sleep(ms, undefined, { signal }).catch(() => undefined);
}

type Bell = { ring(): void; wait(timeoutMs: number): Promise<void> };

/** A ring while nobody waits is heard by the next who does. */
function newBell(): Bell {
  let isRung = false;
  let wake: (() => void) | undefined;
  return {
    ring() {
      isRung = true;
      wake?.();
    },
    async wait(timeoutMs) {
      if (!isRung) {
        const { promise, resolve } = Promise.withResolvers<void>();
        wake = resolve;
        const timer = setTimeout(resolve, timeoutMs);
        await promise;
        clearTimeout(timer);
        wake = undefined;
      }
      isRung = false;
    },
  };
}
