export type RateLimit = { perSecond: number; burst: number };

export type RateLimiter = {
  /** The same as `waitSeconds`, without beginning a bucket for a source that has none. */
  waitIfKnown(sourceId: string, limit: RateLimit): number;
  /** Seconds the source has to stay away, or 0. */
  waitSeconds(sourceId: string, limit: RateLimit): number;
  /** Counts calls that were let in. More than is left is a debt that later requests wait for: no batch is cut in two. */
  spend(sourceId: string, calls: number): void;
};

type Bucket = { tokens: number; filledAt: number };

/** A token bucket for each source, in this process. Of more than `maxBuckets`, the oldest one is forgotten. */
export function openRateLimiter(nowMs: () => number, maxBuckets = Infinity): RateLimiter {
  const buckets = new Map<string, Bucket>();

  function begin(sourceId: string, tokens: number): Bucket {
    const [oldest] = buckets.size >= maxBuckets ? buckets.keys() : [];
    if (oldest !== undefined) buckets.delete(oldest);
    const bucket = { tokens, filledAt: nowMs() };
    buckets.set(sourceId, bucket);
    return bucket;
  }

  function wait(bucket: Bucket, { perSecond, burst }: RateLimit): number {
    const now = nowMs();
    bucket.tokens = Math.min(burst, bucket.tokens + ((now - bucket.filledAt) / 1_000) * perSecond);
    bucket.filledAt = now;
    return bucket.tokens >= 1 ? 0 : Math.max(1, Math.ceil((1 - bucket.tokens) / perSecond));
  }

  return {
    waitIfKnown(sourceId, limit) {
      const bucket = buckets.get(sourceId);
      return bucket === undefined ? 0 : wait(bucket, limit);
    },
    waitSeconds: (sourceId, limit) => wait(buckets.get(sourceId) ?? begin(sourceId, limit.burst), limit),
    spend(sourceId, calls) {
      const bucket = buckets.get(sourceId);
      if (bucket !== undefined) bucket.tokens -= calls;
    },
  };
}
