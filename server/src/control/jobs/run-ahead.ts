/**
 * How far a replay runs ahead of its destination. What is in the lane is delivered even if the replay is cancelled, and fresh
 * events that have to wait should not stand behind a long replay: so no more than leaves the lane in about a second.
 */
export type RunAhead = {
  /** How many groups may be put into the lane that holds so many which were not attempted yet. */
  room(untried: number): number;
  fed(groups: number): void;
};

const LEAST = 2;
const MOST = 20;
const GROWTH = 1.5;
/** What is done with leaves the lane in portions, twice a second: a shorter time would measure those. */
const MEASURE_MS = 1_000;

/** For a replay with a rate: that is what bounds it, unless its destination is slower. */
export const FIXED_AHEAD: RunAhead = { room: (untried) => Math.max(0, MOST - untried), fed: () => undefined };

export function openRunAhead(nowMs: () => number): RunAhead {
  const seen = { at: nowMs(), untried: 0, fed: 0 };
  let limit = LEAST;
  let fedAt = nowMs();
  return {
    room(untried) {
      const ms = nowMs() - seen.at;
      if (ms >= MEASURE_MS) {
        const left = seen.untried + seen.fed - untried;
        const perSecond = (left * 1_000) / ms;
        // A lane that ran dry could have done with more.
        const wanted = untried <= 1 ? perSecond * GROWTH : perSecond;
        limit = Math.min(MOST, Math.max(LEAST, Math.ceil(wanted)));
        Object.assign(seen, { at: nowMs(), untried, fed: 0 });
      }
      // Others put theirs into the same lane: however much that is, a replay is not kept waiting for ever.
      const least = nowMs() - fedAt >= MEASURE_MS && untried < MOST ? 1 : 0;
      return Math.max(least, limit - untried);
    },
    fed(groups) {
      seen.fed += groups;
      if (groups > 0) fedAt = nowMs();
    },
  };
}
