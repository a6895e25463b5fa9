export type RetrySettings = { minRetryMs: number; maxRetryMs: number };

/**
 * How long to wait after the given try, counted from 1: twice as long each time, between half and all of it by chance so
 * that clients which failed together do not return together; never sooner than the service asked.
 */
export function retryDelayMs(
  tries: number,
  settings: RetrySettings,
  chance: { random: number; afterMs?: number },
): number {
  const longest = Math.min(settings.maxRetryMs, settings.minRetryMs * 2 ** (tries - 1));
  return Math.max(longest * (0.5 + chance.random / 2), chance.afterMs ?? 0);
}
