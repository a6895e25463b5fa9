import type { Readiness } from '../metrics/serve-metrics.ts';

/** One seat of the crew with its child. */
export type SeatReport = Readiness & {
  number: number;
  /** Whether a child of this seat has collected and delivered since the supervisor started. */
  hasServed: boolean;
};

/**
 * At the start all children have to collect and deliver. Later one that is ready is enough, and the machine must not wait for control: a load
 * balancer must not leave it out because another child restarts.
 */
export function judgeReadiness(seats: readonly SeatReport[]): Readiness {
  const troubles = seats.flatMap(({ number, reasons }) => reasons.map((reason) => `process ${number}: ${reason}`));
  const isReady = seats.every(({ hasServed }) => hasServed) && seats.some(({ reasons }) => reasons.length === 0);
  if (!isReady) return { reasons: troubles, missing: [] };
  return { reasons: [], missing: [...troubles, ...seats.flatMap(({ missing }) => missing)] };
}
