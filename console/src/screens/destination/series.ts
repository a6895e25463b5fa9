/** Series of the API made ready for a plot: every step has a value, and the figures beside it agree with it. */
import type { Lane } from '@millrace/contract/control';
import { count } from '../../format/numbers.ts';
import { duration } from '../../format/times.ts';

const MOST_STEPS = 200;
const STEPS = [60, 300, 600, 1_800, 3_600, 7_200, 14_400, 43_200];

/** The shortest step of which the API gives so many. */
export function fineStep(from: string, now: number = Date.now()): number {
  const seconds = (now - Date.parse(from)) / 1_000;
  return STEPS.find((step) => seconds / step <= MOST_STEPS - 2) ?? 86_400;
}

type Span = { from: string; to: string; step: number };

/** The API leaves out steps without a value. */
export function everyStep<Point extends { at: string }, Gap extends number | null>(
  { from, to, step }: Span,
  points: readonly Point[],
  read: (point: Point) => number,
  gap: Gap,
): { times: number[]; values: (number | Gap)[] } {
  const first = Math.floor(Date.parse(from) / 1_000 / step) * step;
  const last = Math.floor((Date.parse(to) / 1_000 - 1) / step) * step;
  const byTime = new Map(points.map((point) => [Math.floor(Date.parse(point.at) / 1_000), point]));
  const times = Array.from({ length: Math.max(2, (last - first) / step + 1) }, (_, place) => first + place * step);
  const values = times.map((time) => {
    const point = byTime.get(time);
    return point === undefined ? gap : read(point);
  });
  return { times, values };
}

type Depth = { at: string; deliveries: number };

/** ", +42 a min" between the last two points; nothing when the last is older than two steps. */
export function depthChange(depth: readonly Depth[], { to, step }: Pick<Span, 'to' | 'step'>): string {
  const [before, last] = depth.slice(-2);
  if (before === undefined || last === undefined) return '';
  if (Date.parse(to) - Date.parse(last.at) > 2 * step * 1_000) return '';
  const minutes = (Date.parse(last.at) - Date.parse(before.at)) / 60_000;
  const change = Math.round((last.deliveries - before.deliveries) / Math.max(minutes, 1));
  if (change === 0) return '';
  return `, ${change > 0 ? '+' : '−'}${count(Math.abs(change))} a min`;
}

/** The API tells it while a lane drains; otherwise the rate limit gives the shortest time. */
export function clearText(
  { clearInMs, depth }: Pick<Lane, 'clearInMs' | 'depth'>,
  limit: number | undefined,
): string | undefined {
  if (clearInMs !== null) return clearInMs < 1_000 ? 'under 1 s' : `about ${duration(clearInMs)}`;
  return limit === undefined || depth === 0
    ? undefined
    : `about ${duration(Math.max(1, Math.ceil(depth / limit)) * 1_000)}`;
}
