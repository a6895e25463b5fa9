import { newTokenBucket, refill } from '../../domain/token-bucket.ts';

/** The rate limit of a job, as a token bucket. `room` is how many items it may do now. */
export type Pace = { isLimited: boolean; room(): number; spend(count: number): void };

/**
 * The bucket begins empty, so that the first second holds no more than the others. It holds one second's worth: a job makes up for
 * a short pause, and does not flood the receiver after a long one.
 */
export function openPace(perSecond: number | undefined, nowMs: () => number): Pace {
  if (perSecond === undefined) return { isLimited: false, room: () => Infinity, spend: () => undefined };
  const bucket = newTokenBucket(0, nowMs());
  return {
    isLimited: true,
    room: () => Math.floor(refill(bucket, nowMs(), perSecond, Math.max(1, perSecond))),
    spend(count) {
      bucket.tokens -= count;
    },
  };
}
