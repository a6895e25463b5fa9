import type { Losses } from './open-power-disk.ts';

/** Of all cuts of a run, for its report. */
export function sumLosses(all: readonly Losses[]) {
  const sum = (name: keyof Losses) => all.reduce((total, losses) => total + losses[name], 0);
  return {
    pages: sum('pagesUnsynced'),
    pagesLost: sum('pagesLost'),
    pagesTorn: sum('pagesTorn'),
    bytesLost: sum('bytesLost'),
    names: sum('namesUnsynced'),
    namesLost: sum('namesLost'),
  };
}
