export type TryLimiter = {
  /** Counts a try; false when there were too many. */
  take(key: string, maxPerMinute: number): boolean;
  forget(key: string): void;
};

const WINDOW_MS = 60_000;
/** An attacker who makes up names must not fill our memory: beyond this, the oldest are forgotten. */
const MAX_KEYS = 50_000;

/** Counts in this process. Several behind a load balancer allow as many times more, still too few to guess a password. */
export function openTryLimiter(nowMs: () => number): TryLimiter {
  const counts = new Map<string, { since: number; tries: number }>();
  return {
    take(key, maxPerMinute) {
      const now = nowMs();
      const before = counts.get(key);
      const count = before === undefined || now - before.since >= WINDOW_MS ? { since: now, tries: 0 } : before;
      count.tries += 1;
      counts.delete(key);
      counts.set(key, count);
      if (counts.size > MAX_KEYS) counts.delete(counts.keys().next().value ?? '');
      return count.tries <= maxPerMinute;
    },
    forget: (key) => void counts.delete(key),
  };
}
