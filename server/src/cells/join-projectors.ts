import type { Projector, RemovalGuard } from '../projection/project-config.ts';
import { NO_REMOVALS } from '../projection/repair-config.ts';

type Other = Pick<Projector, 'changed' | 'settled' | 'removals'>;

/** The projectors of all cells as one. That of another cell is undefined until the cell is open. */
export function joinProjectors(main: Projector, cells: () => readonly (Other | undefined)[]): Projector {
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
    /** False with a cell that cannot be reached: its bucket may differ. */
    settled: async () => {
      const isComplete = cells().every((each) => each !== undefined);
      return isComplete && (await Promise.all(all().map((projector) => projector.settled()))).every(Boolean);
    },
    removals,
    [Symbol.asyncDispose]: () => main[Symbol.asyncDispose](),
  };
}
