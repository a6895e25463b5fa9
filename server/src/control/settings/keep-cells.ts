import type { Cell } from '../../domain/configuration.ts';
import type { Logger } from '../../log.ts';
import { pause } from '../../pause.ts';
import { forgetCells, seeCells } from '../../store/cells.ts';
import type { Store } from '../../store/open-store.ts';

export type KeepNeeds = { store: Store; cells: readonly Cell[]; log: Logger; times?: typeof TIMES };

const TIMES = { lookMs: 20_000, unseenSeconds: 120 };

/**
 * Tells PostgreSQL which cells this process has in its settings, and forgets those that no control process has. Not at its start: during a
 * rollout, another one may have been started with more cells, and writes their configuration.
 */
export function startKeepingCells({ store, cells, log, times = TIMES }: KeepNeeds): AsyncDisposable {
  const life = new AbortController();
  const { signal } = life;
  const names = cells.map(({ name }) => name);

  async function keepLooking(): Promise<void> {
    while (!signal.aborted) {
      try {
        const forgotten = await store.asSystem(async (tx) => {
          await seeCells(tx, names);
          return forgetCells(tx, names, times.unseenSeconds);
        });
        for (const cell of forgotten) log.warn({ cell }, 'cell.forgotten');
      } catch (error) {
        log.warn({ error: String(error) }, 'cells.not_kept');
      }
      await pause(times.lookMs, signal);
    }
  }

  const looking = keepLooking();
  return {
    async [Symbol.asyncDispose]() {
      life.abort();
      await looking;
    },
  };
}
