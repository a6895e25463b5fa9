/** The attempts to come, by the retry schedule of the contract: about when, until Millrace gives up. Pure. */
import type { DeliveryAttempt, DeliveryDetails } from '@millrace/contract/control';
import { JITTER, MIN_LAST_TIER, RETRY_DELAYS_MS, RETRY_WINDOW_MS } from '@millrace/contract/retry-schedule';

export type Planned = { attempt: number; at: number };

/** The length of the pause after so many attempts; undefined when none fits into the time that is left. */
export function delayAfter(attempts: number, leftMs: number): number | undefined {
  const wanted = Math.min(Math.max(attempts, 1), RETRY_DELAYS_MS.length);
  for (let tier = wanted; tier >= 1; tier -= 1) {
    const delay = RETRY_DELAYS_MS[tier - 1] ?? 0;
    const isLastResort = tier < wanted && tier < MIN_LAST_TIER;
    if (!isLastResort && delay * (1 + JITTER) <= leftMs) return delay;
  }
  return undefined;
}

const MOST = 40;

export function planAttempts(made: number, nextAt: number, endsAt: number): Planned[] {
  const planned: Planned[] = [];
  let at: number | undefined = nextAt;
  while (at !== undefined && at <= endsAt && planned.length < MOST) {
    const attempt: number = made + planned.length + 1;
    planned.push({ attempt, at });
    const delay: number | undefined = delayAfter(attempt, endsAt - at);
    at = delay === undefined ? undefined : at + delay;
  }
  return planned;
}

/** The attempts since the latest replay or redrive: each of them begins four hours of its own. */
export function latestRun({ history, replayId }: Pick<DeliveryDetails, 'history' | 'replayId'>): DeliveryAttempt[] {
  const run = history.filter((attempt) => attempt.replayId === replayId);
  return run.length === 0 ? history : run;
}

export type Window = { firstAt: number; endsAt: number };

/** Undefined before the first attempt, also the first of a replay: the four hours begin with it. */
export function windowOf(
  delivery: Pick<DeliveryDetails, 'history' | 'replayId' | 'firstAttemptAt'>,
): Window | undefined {
  const { history, replayId, firstAttemptAt } = delivery;
  if (replayId !== null && !history.some((attempt) => attempt.replayId === replayId)) return undefined;
  const first = latestRun(delivery)[0]?.at ?? firstAttemptAt;
  if (first === null) return undefined;
  const firstAt = Date.parse(first);
  return { firstAt, endsAt: firstAt + RETRY_WINDOW_MS };
}
