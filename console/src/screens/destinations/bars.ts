import type { DeliveryMetrics } from '@millrace/contract/control';
import type { Static } from 'typebox';
import { counted } from '../../format/numbers.ts';
import type { Spark } from '../../parts/sparkbars.tsx';

type Points = Static<typeof DeliveryMetrics>['series'];
const HOUR_MS = 3_600_000;
const HOURS = 24;

/** Skipped events are no work of a destination: they have no bar. */
export function barsOf(points: Points, from: number): Spark[] {
  const byHour = new Map(points.map((point) => [Math.floor((Date.parse(point.at) - from) / HOUR_MS), point]));
  return Array.from({ length: HOURS }, (_, hour) => {
    const point = byHour.get(hour);
    if (point === undefined) return { value: 0 };
    const givenUp = point.discarded + point.expired;
    const trouble = givenUp > 0 ? 'givenup' : point.retry > 0 && point.delivered === 0 ? 'retrying' : undefined;
    return { value: point.delivered + givenUp + point.retry, trouble };
  });
}

export function labelOf(points: Points): string {
  const sum = (read: (point: Points[number]) => number) => points.reduce((total, point) => total + read(point), 0);
  const delivered = counted(
    sum((point) => point.delivered),
    'delivery',
    'deliveries',
  );
  return `${delivered} and ${sum((point) => point.discarded + point.expired)} given up in 24 hours`;
}
