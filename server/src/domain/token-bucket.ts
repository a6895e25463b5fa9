/**
 * A token bucket: tokens come at a steady rate up to the burst, and an action takes one or more. Plain data, so that thousands of
 * them cost little. The clock is an argument and should be monotonic: a step back takes tokens away.
 */
export type TokenBucket = { tokens: number; filledAt: number };

export function newTokenBucket(tokens: number, nowMs: number): TokenBucket {
  return { tokens, filledAt: nowMs };
}

/** Adds the tokens that came since the last call. Returns how many there are: with a fraction, and below zero for a debt. */
export function refill(bucket: TokenBucket, nowMs: number, perSecond: number, burst: number): number {
  bucket.tokens = Math.min(burst, bucket.tokens + ((nowMs - bucket.filledAt) * perSecond) / 1_000);
  bucket.filledAt = nowMs;
  return bucket.tokens;
}

/** How long it takes until the bucket has a whole token; 0 when it has one. */
export function secondsToToken({ tokens }: TokenBucket, perSecond: number): number {
  return tokens >= 1 ? 0 : (1 - tokens) / perSecond;
}
