import { type RetrySchedule } from '../../../server/src/deliver/attempt/retry-schedule.ts';
import type { Findings } from '../run-fault.ts';
import type { Arrival } from './read-arrival.ts';

/** A busy machine may add this to a delay. */
const PATIENCE_MS = 10_000;
/** A receiver notes an arrival a little after the clock that a delay is counted from began. */
const GRAIN_MS = 20;

/** Holds the time between two attempts of a delivery against the delay of the schedule: neither sooner nor much later. */
export function judgeRetries(arrivals: readonly Arrival[], schedule: RetrySchedule): Findings {
  const byDelivery = Map.groupBy(arrivals, ({ messageId, destinationId }) => `${messageId} → ${destinationId}`);
  const early: string[] = [];
  const late: string[] = [];
  let retries = 0;
  let mostLateMs = 0;
  for (const [delivery, group] of byDelivery) {
    const inOrder = group.toSorted((a, b) => a.attempt - b.attempt);
    for (const [index, { attempt, at }] of inOrder.entries()) {
      const next = inOrder[index + 1];
      if (next?.attempt !== attempt + 1) continue;
      const waitedMs = next.at - at;
      retries += 1;
      mostLateMs = Math.max(mostLateMs, waitedMs - schedule.longestMs(attempt));
      if (waitedMs < schedule.delayMs(attempt) - GRAIN_MS) early.push(`${delivery} after ${Math.round(waitedMs)} ms`);
      if (waitedMs > schedule.longestMs(attempt) + PATIENCE_MS)
        late.push(`${delivery} after ${Math.round(waitedMs)} ms`);
    }
  }
  return {
    failures: complain(early, 'were tried again before their delay was over'),
    late: complain(late, 'waited for longer than the delay of their tier'),
    figures: { retries, earlyRetries: early.length, lateRetries: late.length, mostLateMs: Math.round(mostLateMs) },
  };
}

function complain(names: readonly string[], what: string): string[] {
  return names.length === 0 ? [] : [`${names.length} deliveries ${what}: ${names.slice(0, 3).join(', ')}`];
}
