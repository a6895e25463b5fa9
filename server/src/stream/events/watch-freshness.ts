/** How much later than usual, in milliseconds, a request is taken up that was stored at that time; `now` is monotonic. */
export type Freshness = (storedAt: number, now: number) => number;

/** The usual lag is the minimum of the last one to two spans. */
const SPAN_MS = 30_000;

/** Relative to the recent minimum, and not to zero: the time at which a request was stored is by the clock of NATS. */
export function watchFreshness(): Freshness {
  let least = Infinity;
  let leastBefore = Infinity;
  let since = -Infinity;
  return (storedAt, now) => {
    if (now - since > SPAN_MS) {
      leastBefore = now - since > 2 * SPAN_MS ? Infinity : least;
      least = Infinity;
      since = now;
    }
    const lagMs = now - storedAt;
    least = Math.min(least, lagMs);
    return lagMs - Math.min(least, leastBefore);
  };
}
