import { newTokenBucket, refill, secondsToToken, type TokenBucket } from '../domain/token-bucket.ts';

export type RateLimit = { perSecond: number; burst: number };

export type RateLimiter = {
  /** The same as `waitSeconds`, without starting a bucket for a key that has none. */
  waitIfKnown(key: string, limit: RateLimit): number;
  /** After how many seconds the key may send again; 0 for now. */
  waitSeconds(key: string, limit: RateLimit): number;
  /** Counts what was accepted. A batch is never cut in two: if it takes more than is left, later requests wait for the debt. */
  spend(key: string, count: number): void;
  /** The tokens that each known key spent a second, over the last seconds. */
  rates(): Iterable<readonly [key: string, perSecond: number]>;
};

/** `spent` counts what was spent in the window that began at `windowAt`, `before` in the one before it. */
type Bucket = TokenBucket & { spent: number; before: number; windowAt: number };

const WINDOW_MS = 5_000;

/** A token bucket for each key (a source, a workspace, an address), in this process. Beyond `maxBuckets` it forgets the oldest one. */
export function openRateLimiter(nowMs: () => number, maxBuckets = Infinity): RateLimiter {
  const buckets = new Map<string, Bucket>();

  function begin(key: string, tokens: number): Bucket {
    const [oldest] = buckets.size >= maxBuckets ? buckets.keys() : [];
    if (oldest !== undefined) buckets.delete(oldest);
    const bucket = { ...newTokenBucket(tokens, nowMs()), spent: 0, before: 0, windowAt: nowMs() };
    buckets.set(key, bucket);
    return bucket;
  }

  function wait(bucket: TokenBucket, { perSecond, burst }: RateLimit): number {
    refill(bucket, nowMs(), perSecond, burst);
    return Math.ceil(secondsToToken(bucket, perSecond));
  }

  return {
    waitIfKnown(key, limit) {
      const bucket = buckets.get(key);
      return bucket === undefined ? 0 : wait(bucket, limit);
    },
    waitSeconds: (key, limit) => wait(buckets.get(key) ?? begin(key, limit.burst), limit),
    spend(key, count) {
      const bucket = buckets.get(key);
      if (bucket === undefined) return;
      bucket.tokens -= count;
      turn(bucket, nowMs());
      bucket.spent += count;
    },
    *rates() {
      for (const [key, bucket] of buckets) {
        const now = nowMs();
        turn(bucket, now);
        yield [key, ((bucket.spent + bucket.before) * 1_000) / (WINDOW_MS + now - bucket.windowAt)];
      }
    },
  };
}

/** Begins a new window when the last one is over. */
function turn(bucket: Bucket, now: number): void {
  const passed = now - bucket.windowAt;
  if (passed < WINDOW_MS) return;
  bucket.before = passed < WINDOW_MS * 2 ? bucket.spent : 0;
  bucket.spent = 0;
  bucket.windowAt = now - (passed % WINDOW_MS);
}
