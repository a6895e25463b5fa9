/** When a delivery that fails is tried again. Deliver has these times in `retry-schedule.ts`; the test compares them with the documentation that is printed from there. */
const SECOND_MS = 1_000;
const MINUTE_MS = 60_000;
export const WINDOW_MS = 14_400_000;
export const DELAYS_MS: readonly number[] = [
  5 * SECOND_MS,
  15 * SECOND_MS,
  45 * SECOND_MS,
  2 * MINUTE_MS,
  5 * MINUTE_MS,
  10 * MINUTE_MS,
  20 * MINUTE_MS,
  30 * MINUTE_MS,
];
/** Each wait is longer by up to a tenth, at random. */
const JITTER = 0.1;
/** The shortest step that stands in for one that would end after the window: two minutes. */
const LEAST_LAST_STEP = 3;

export type Retry = { attempt: number; waitMs: number; sinceFirstMs: number };

/** Every attempt after the first one, without the random part. */
export function retryTimes(): Retry[] {
  const retries: Retry[] = [];
  let sinceFirstMs = 0;
  for (let attempt = 2; ; attempt += 1) {
    const waitMs = nextWait(attempt - 1, WINDOW_MS - sinceFirstMs);
    if (waitMs === undefined) return retries;
    sinceFirstMs += waitMs;
    retries.push({ attempt, waitMs, sinceFirstMs });
  }
}

function nextWait(failures: number, leftMs: number): number | undefined {
  const wanted = Math.min(failures, DELAYS_MS.length) - 1;
  for (let step = wanted; step >= 0; step -= 1) {
    const delay = DELAYS_MS[step] ?? 0;
    if (step < wanted && step < LEAST_LAST_STEP) return undefined;
    if (delay * (1 + JITTER) <= leftMs) return delay;
  }
  return undefined;
}
