import type { Attempt } from './oracle.ts';

export type Span = { from: number; to: number };
export type Timed = { startedAt: number; endedAt: number };

/** Whether a span has a moment in common with one of the others. */
export function meets(others: readonly Span[], { from, to }: Span): boolean {
  return others.some((other) => from <= other.to && to >= other.from);
}

/** The longest time between two answers of 200, the span's own ends counted as such. */
export function longestGapMs(attempts: readonly Attempt[], span: Span): number {
  return longestGap(
    attempts.filter(({ outcome }) => outcome === 200).map(({ endedAt }) => endedAt),
    span,
  );
}

/** The same between any moments. */
export function longestGap(moments: readonly number[], { from, to }: Span): number {
  const within = moments.filter((at) => at > from && at < to).sort((a, b) => a - b);
  let longest = 0;
  let last = from;
  for (const at of [...within, to]) {
    longest = Math.max(longest, at - last);
    last = at;
  }
  return Math.round(longest);
}

/** The share `p` of the durations is at most this long. Undefined, and so absent in JSON, when there were none. */
export function percentileMs(attempts: readonly Timed[], p: number): number | undefined {
  const durations = attempts.map(({ startedAt, endedAt }) => endedAt - startedAt).sort((a, b) => a - b);
  const found = durations[Math.min(durations.length - 1, Math.floor(durations.length * p))];
  return found === undefined ? undefined : Math.round(found * 10) / 10;
}

/** How often each status, or each way of getting none, was seen. */
export function countOutcomes(attempts: readonly Attempt[]): Record<string, number> {
  const groups = Map.groupBy(attempts, (attempt) => String(attempt.outcome));
  return Object.fromEntries([...groups].map(([outcome, group]) => [outcome, group.length]));
}
