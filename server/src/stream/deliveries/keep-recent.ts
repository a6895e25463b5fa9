const KEEP_MS = 15_000;
const PATIENCE_MS = 1_000;

/**
 * A cache: asks at most every 15 seconds, because the answer may hold a line for each of 100,000 destinations. Callers get the last
 * answer meanwhile, and undefined when there is none after a second.
 */
export function keepRecent<T>(ask: () => Promise<T>): () => Promise<T | undefined> {
  let last: T | undefined;
  let lastAt = -Infinity;
  let asking: Promise<void> | undefined;
  const refresh = async () => {
    try {
      last = await ask();
    } catch {
      // The last answer stays, and the next question comes after the same pause.
    } finally {
      lastAt = performance.now();
      asking = undefined;
    }
  };
  return async () => {
    if (performance.now() - lastAt < KEEP_MS) return last;
    asking ??= refresh();
    const waited = Promise.withResolvers<void>();
    const timer = setTimeout(waited.resolve, PATIENCE_MS);
    await Promise.race([asking, waited.promise]);
    clearTimeout(timer);
    return last;
  };
}
