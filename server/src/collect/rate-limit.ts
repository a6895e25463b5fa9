import { newTokenBucket, refill, secondsToToken, type TokenBucket } from '../domain/token-bucket.ts';

export type RateLimit = { perSecond: number; burst: number };

export type RateLimiter = {
  /** The same as `waitSeconds`, without starting a bucket for a source that has none. */
  waitIfKnown(sourceId: string, limit: RateLimit): number;
  /** After how many seconds the source may send again; 0 for now. */
  waitSeconds(sourceId: string, limit: RateLimit): number;
  /** Counts accepted calls. A batch is never cut in two: if it takes more than is left, later requests wait for the debt. */
  spend(sourceId: string, calls: number): void;
};

/** A token bucket for each source, in this process. Beyond `maxBuckets` it forgets the oldest one. */
export function openRateLimiter(nowMs: () => number, maxBuckets = Infinity): RateLimiter {
  const buckets = new Map<string, TokenBucket>();

  function begin(sourceId: string, tokens: number): TokenBucket {
    const [oldest] = buckets.size >= maxBuckets ? buckets.keys() : [];
    if (oldest !== undefined) buckets.delete(oldest);
    const bucket = newTokenBucket(tokens, nowMs());
    buckets.set(sourceId, bucket);
    return bucket;
  }

  function wait(bucket: TokenBucket, { perSecond, burst }: RateLimit): number {
    refill(bucket, nowMs(), perSecond, burst);
    return Math.ceil(secondsToToken(bucket, perSecond));
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
