const KEEP_MS = 15_000;
const PATIENCE_MS = 1_000;
const TOO_OLD_MS = 60_000;

/**
 * A cache: asks at most every 15 seconds, because the answer may hold a line for each of 100,000 destinations. Callers get the last
 * answer meanwhile, for up to a minute. They get undefined when there is none after a second, and after a question that failed.
 */
export function keepRecent<T>(
  ask: () => Promise<T>,
  nowMs: () => number = () => performance.now(),
): () => Promise<T | undefined> {
  let last: T | undefined;
  let lastAt = -Infinity;
  let asking: Promise<void> | undefined;
  const refresh = async () => {
    try {
      last = await ask();
    } catch {
      last = undefined;
    } finally {
      // The next question comes after the same pause, whatever became of this one.
      lastAt = nowMs();
      asking = undefined;
    }
  };
  return async () => {
    if (nowMs() - lastAt < KEEP_MS) return last;
    asking ??= refresh();
    const waited = Promise.withResolvers<void>();
    const timer = setTimeout(waited.resolve, PATIENCE_MS);
    await Promise.race([asking, waited.promise]);
    clearTimeout(timer);
    return nowMs() - lastAt < TOO_OLD_MS ? last : undefined;
  };
}
