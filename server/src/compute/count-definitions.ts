import type { Metrics } from '../metrics/open-metrics.ts';
import { pause } from '../pause.ts';
import { countDefinitions } from '../store/definitions/definition-changes.ts';
import type { Store } from '../store/open-store.ts';

const EVERY_MS = 10_000;

/** Keeps the metrics of definitions, and of how long PostgreSQL has not answered: without it the readers have no lag to tell. */
export function startCounting(store: Store, metrics: Metrics): AsyncDisposable {
  const life = new AbortController();
  let counts = { all: 0, incomplete: 0 };
  let waitsSinceMs: number | undefined;

  async function count(): Promise<void> {
    while (!life.signal.aborted) {
      const startedMs = performance.now();
      try {
        counts = await store.asSystem(countDefinitions);
        waitsSinceMs = undefined;
      } catch {
        waitsSinceMs ??= startedMs;
      }
      await pause(EVERY_MS, life.signal);
    }
  }

  metrics.gauge('millrace_compute_definitions', () => counts.all);
  metrics.gauge('millrace_compute_definitions_incomplete', () => counts.incomplete);
  metrics.gauge('millrace_compute_waiting_seconds', () =>
    waitsSinceMs === undefined || counts.all === 0 ? 0 : (performance.now() - waitsSinceMs) / 1_000,
  );
  const counting = count();
  return {
    async [Symbol.asyncDispose]() {
      life.abort();
      await counting;
    },
  };
}
