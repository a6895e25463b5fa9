import type { DeliveryMetrics } from '@millrace/contract/control';
import { useQuery } from '@tanstack/react-query';
import type { Static } from 'typebox';
import { reading } from '../../api/queries.ts';
import { count, counted } from '../../format/numbers.ts';
import { Sentence } from '../sentence.tsx';
import { useSteadyRange } from '../steady-range.ts';

type Point = Static<typeof DeliveryMetrics>['series'][number];

/** The sentence above a list: how the deliveries of the time range ended. */
export function DeliveryTotals({ destinationId }: { destinationId?: string | undefined }) {
  const { from, step, words } = useSteadyRange();
  const query = { from, step, ...(destinationId === undefined ? {} : { destinationId }) };
  const { data } = useQuery(reading<Static<typeof DeliveryMetrics>>('/metrics/deliveries', { query, every: 15_000 }));
  if (data === undefined) return <Sentence>Deliveries</Sentence>;
  const { series } = data;
  const sum = (read: (point: Point) => number) => series.reduce((total, point) => total + read(point), 0);
  const delivered = sum((point) => point.delivered);
  const givenUp = sum((point) => point.discarded + point.expired);
  const retried = sum((point) => point.retry);
  const skipped = sum((point) => point.skipped);
  return (
    <Sentence>
      {counted(delivered, 'delivery', 'deliveries')} arrived in the {words}, Millrace gave up {count(givenUp)} and
      skipped {count(skipped)}.{retried > 0 && ` It repeated ${counted(retried, 'attempt')}.`}
    </Sentence>
  );
}
