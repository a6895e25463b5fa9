import type { DeliveryMetrics, Overview } from '@millrace/contract/control';
import { useQuery } from '@tanstack/react-query';
import type { Static } from 'typebox';
import { reading } from '../../api/queries.ts';
import type { OutcomePoint } from '../../parts/chart/outcome-chart.tsx';
import { useRange } from '../../parts/range-switch.tsx';
import { useNow } from '../../parts/use-now.ts';

const REFRESH_MS = 15_000;

export type Deliveries = { points: readonly OutcomePoint[]; from: string; to: string; step: number };

/** The deliveries of the chosen range: the overview has those of 24 hours, the metrics all others. */
export function useDeliveries(overview: Overview | undefined) {
  const { name, ms, step } = useRange();
  const now = useNow(REFRESH_MS);
  const isDay = name === '24h';
  const from = new Date(Math.ceil((now - ms) / (step * 1_000)) * step * 1_000).toISOString();
  const metrics = useQuery(
    reading<Static<typeof DeliveryMetrics>>('/metrics/deliveries', {
      query: { from, step },
      every: REFRESH_MS,
      enabled: !isDay,
    }),
  );
  const data = isDay ? ofOverview(overview) : ofMetrics(metrics.data, step);
  return { data, error: isDay ? null : metrics.error, retry: () => void metrics.refetch() };
}

function ofOverview(overview: Overview | undefined): Deliveries | undefined {
  return overview?.series;
}

/** The answer of the range before stays until the new one is there: it has another step, and is not shown. */
function ofMetrics(metrics: Static<typeof DeliveryMetrics> | undefined, step: number): Deliveries | undefined {
  if (metrics === undefined || metrics.step !== step) return undefined;
  return { points: metrics.series, from: metrics.from, to: metrics.to, step };
}
