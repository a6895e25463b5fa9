import { JITTER, MIN_LAST_TIER, RETRY_DELAYS_MS, RETRY_WINDOW_MS } from '@millrace/contract/retry-schedule';
import { UNTRIED_TIER } from '../../domain/delivery.ts';

/** The policy is in the contract. Each delay is a tier of the lane. Within a tier the delay is the same for all, so first in is first due. */
export { JITTER, RETRY_DELAYS_MS };

/** Tier n waits for the n-th delay. */
export const TIERS: readonly number[] = [UNTRIED_TIER, ...RETRY_DELAYS_MS.map((_, index) => index + 1)];

export type RetrySchedule = {
  windowMs: number;
  /** The delay of a tier. */
  delayMs(tier: number): number;
  /** The same with all the jitter that there can be. */
  longestMs(tier: number): number;
  /**
   * Where a delivery waits that has failed so often: the tier of that attempt, or the longest that still ends inside the
   * window. Undefined when not even the shortest does.
   */
  tierAfter(attempts: number, leftMs: number): number | undefined;
};

/** `scale` divides every time: 240 plays four hours in a minute. */
export function retrySchedule(scale: number): RetrySchedule {
  const delays = RETRY_DELAYS_MS.map((delay) => delay / scale);
  const longestWithJitter = (tier: number) => (delays[tier - 1] ?? 0) * (1 + JITTER);
  return {
    windowMs: RETRY_WINDOW_MS / scale,
    delayMs: (tier) => delays[tier - 1] ?? 0,
    longestMs: longestWithJitter,
    tierAfter(attempts, leftMs) {
      const wanted = Math.min(Math.max(attempts, 1), delays.length);
      for (let tier = wanted; tier >= 1; tier -= 1) {
        // Many short steps in the last minutes would be no better than one: only a step worth the name is taken.
        const isLastResort = tier < wanted && tier < MIN_LAST_TIER;
        if (!isLastResort && longestWithJitter(tier) <= leftMs) return tier;
      }
      return undefined;
    },
  };
}
