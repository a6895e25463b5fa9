export type RateLimit = { perSecond: number; burst: number };

export type RateLimiter = {
  /** Seconds the source has to stay away, or 0. */
  waitSeconds(sourceId: string, limit: RateLimit): number;
  /** Counts calls that were let in. More than is left is a debt that later requests wait for: no batch is cut in two. */
  spend(sourceId: string, calls: number): void;
};

type Bucket = { tokens: number; filledAt: number };

/** A token bucket for each source, in this process. */
export function openRateLimiter(nowMs: () => number): RateLimiter {
  const buckets = new Map<string, Bucket>();
  return {
    waitSeconds(sourceId, { perSecond, burst }) {
      const now = nowMs();
      const bucket = buckets.get(sourceId) ?? { tokens: burst, filledAt: now };
      buckets.set(sourceId, bucket);
      bucket.tokens = Math.min(burst, bucket.tokens + ((now - bucket.filledAt) / 1_000) * perSecond);
      bucket.filledAt = now;
      return bucket.tokens >= 1 ? 0 : Math.max(1, Math.ceil((1 - bucket.tokens) / perSecond));
    },
    spend(sourceId, calls) {
      const bucket = buckets.get(sourceId);
      if (bucket !== undefined) bucket.tokens -= calls;
    },
  };
}
