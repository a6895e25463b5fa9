/** How much later than usual, in milliseconds, a request is taken up that was stored at that time; `now` is monotonic. */
export type Freshness = (storedAt: number, now: number) => number;

/** What is usual is the least of the last one to two spans: nobody is always late. */
const SPAN_MS = 30_000;

/** Against what is usual and not against nothing, because the clock that says when a request was stored is the engine's. */
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
