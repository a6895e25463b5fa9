import type { Readiness } from '../metrics/serve-metrics.ts';

/** One seat of the crew with its child. */
export type SeatReport = Readiness & {
  number: number;
  /** Whether a child of this seat was ready since the supervisor started. */
  wasReady: boolean;
};

/**
 * At the start all children have to be ready. Later one is enough: every child collects and delivers, and a load balancer must not take the
 * machine away while another child restarts.
 */
export function judgeReadiness(seats: readonly SeatReport[]): Readiness {
  const troubles = seats.flatMap(({ number, reasons }) => reasons.map((reason) => `process ${number}: ${reason}`));
  const isReady = seats.every(({ wasReady }) => wasReady) && seats.some(({ reasons }) => reasons.length === 0);
  if (!isReady) return { reasons: troubles, missing: [] };
  return { reasons: [], missing: [...troubles, ...seats.flatMap(({ missing }) => missing)] };
}
