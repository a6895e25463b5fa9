export type TryLimiter = {
  /** Counts a try; false when there were too many in the window. */
  take(key: string, max: number): boolean;
  /** Takes one try back, because it was a right one. */
  giveBack(key: string): void;
  forget(key: string): void;
};

const MINUTE_MS = 60_000;
/** An attacker who makes up names must not fill our memory: beyond this, the oldest are forgotten. */
const MAX_KEYS = 50_000;

/**
 * Counts in this process, in windows of a minute unless told otherwise. Several processes behind a load balancer allow as many times
 * more; the limit of an account is in PostgreSQL, for all of them together.
 */
export function openTryLimiter(nowMs: () => number, windowMs = MINUTE_MS): TryLimiter {
  const counts = new Map<string, { since: number; tries: number }>();
  return {
    take(key, max) {
      const now = nowMs();
      const before = counts.get(key);
      const count = before === undefined || now - before.since >= windowMs ? { since: now, tries: 0 } : before;
      count.tries += 1;
      counts.delete(key);
      counts.set(key, count);
      if (counts.size > MAX_KEYS) counts.delete(counts.keys().next().value ?? '');
      return count.tries <= max;
    },
    giveBack(key) {
      const count = counts.get(key);
      if (count !== undefined) count.tries = Math.max(0, count.tries - 1);
    },
    forget: (key) => void counts.delete(key),
  };
}
