/**
 * Backpressure for a replay: it keeps about one second's worth of untried deliveries in the lane. A cancelled replay still
 * delivers what the lane holds, and new events that have to wait should not queue behind a long replay.
 */
export type RunAhead = {
  /** How many groups may be appended to a lane that holds `untried` groups. */
  room(untried: number): number;
  fed(groups: number): void;
};

const LEAST = 2;
const MOST = 20;
const GROWTH = 1.5;
/** Deliver acknowledges in portions, twice a second: a shorter measurement would see single portions. */
const MEASURE_MS = 1_000;

/** For a replay with a rate limit: the rate bounds it, unless its destination is slower. */
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
        // A lane that ran dry could have taken more.
        const wanted = untried <= 1 ? perSecond * GROWTH : perSecond;
        limit = Math.min(MOST, Math.max(LEAST, Math.ceil(wanted)));
        Object.assign(seen, { at: nowMs(), untried, fed: 0 });
      }
      // Other deliveries share the lane: a replay gets at least one group a second, so that they never starve it.
      const least = nowMs() - fedAt >= MEASURE_MS && untried < MOST ? 1 : 0;
      return Math.max(least, limit - untried);
    },
    fed(groups) {
      seen.fed += groups;
      if (groups > 0) fedAt = nowMs();
    },
  };
}
