import { pause } from '../pause.ts';
import type { Projector, RemovalGuard } from '../projection/project-config.ts';
import { NO_REMOVALS } from '../projection/repair-config.ts';

const LOOK_MS = 1_000;

type Other = Pick<Projector, 'changed' | 'settled' | 'removals'>;

/** The projectors of all cells as one. That of another cell is undefined until the cell is open. */
export function joinProjectors(main: Projector, cells: () => readonly (Other | undefined)[]): Projector {
  const life = new AbortController();
  const { signal } = life;
  const others = () => cells().filter((each) => each !== undefined);
  const all = () => [main, ...others()];
  const removals: RemovalGuard = {
    waiting() {
      const sum = { ...NO_REMOVALS };
      for (const { removals } of all()) {
        const waiting = removals.waiting();
        for (const kind of Object.keys(sum) as (keyof typeof sum)[]) sum[kind] += waiting[kind];
      }
      return sum;
    },
    async confirm() {
      let entries = 0;
      for (const projector of all()) entries += await projector.removals.confirm();
      return entries;
    },
  };
  return {
    changed() {
      for (const projector of all()) projector.changed();
    },
    /** Waits for a cell that cannot be reached: its bucket may differ. The rotation of the ring asks only once, and the operator waits for its end. */
    async settled() {
      while (!signal.aborted && cells().includes(undefined)) await pause(LOOK_MS, signal);
      if (signal.aborted) return false;
      return (await Promise.all(all().map((projector) => projector.settled()))).every(Boolean);
    },
    removals,
    [Symbol.asyncDispose]() {
      life.abort();
      return main[Symbol.asyncDispose]();
    },
  };
}
