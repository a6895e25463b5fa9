/**
 * When deliver tries a delivery again that failed: the whole policy, as data. Deliver decides by it, the console draws it, and
 * docs/inside/delivery-states.md prints it.
 */

/** Deliver tries a delivery for this long, counted from its first attempt. MILLRACE_RETRY_SCALE divides it. */
export const RETRY_WINDOW_MS = 4 * 3_600_000;

/** The n-th delay comes after the n-th attempt; the last one repeats. */
export const RETRY_DELAYS_MS: readonly number[] = [
  5_000, 15_000, 45_000, 120_000, 300_000, 600_000, 1_200_000, 1_800_000,
];

/** A delay is made longer by up to this part, so that what failed together does not come back together. */
export const JITTER = 0.1;

/** The shortest delay that replaces one that no longer fits into the window: two minutes, the fourth. */
export const MIN_LAST_TIER = 4;
