import type { DeliveryMetrics } from '@millrace/contract/control';
import { useQuery } from '@tanstack/react-query';
import type { Static } from 'typebox';
import { reading } from '../../api/queries.ts';
import { Sparkbars } from '../../parts/sparkbars.tsx';
import { useNow } from '../../parts/use-now.ts';
import { barsOf, labelOf } from './bars.ts';
import { rowEveryMs } from './standings.ts';

const HOUR_MS = 3_600_000;

/** One bar an hour, of the last 24. `rows` is how many destinations the list shows. */
export function DayBars({ destinationId, rows }: { destinationId: string; rows: number }) {
  const now = useNow(60_000);
  const from = (Math.floor(now / HOUR_MS) - 23) * HOUR_MS;
  const { data } = useQuery(
    reading<Static<typeof DeliveryMetrics>>('/metrics/deliveries', {
      query: { destinationId, from: new Date(from).toISOString(), step: 3_600 },
      every: rowEveryMs(rows, 30_000),
    }),
  );
  if (data === undefined) return <span className="dim">…</span>;
  return <Sparkbars bars={barsOf(data.series, from)} label={labelOf(data.series)} />;
}
