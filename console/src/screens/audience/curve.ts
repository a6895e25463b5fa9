/** The API names the steps at which the size changed: a plot needs every step. */
import type { SizeCurve } from '@millrace/contract/control';

/** Before the first point there is no size; the last step shows the size of now. */
export function everyStep(
  { from, to, step, points }: SizeCurve,
  size: number,
): { times: number[]; values: (number | null)[] } {
  const first = Math.floor(Date.parse(from) / 1_000 / step) * step;
  const last = Math.max(first, Math.floor(Date.parse(to) / 1_000 / step) * step);
  const changes = points
    .map((point) => ({ at: Math.floor(Date.parse(point.at) / 1_000), size: point.size }))
    .toSorted((a, b) => a.at - b.at);
  const times: number[] = [];
  const values: (number | null)[] = [];
  let known: number | null = null;
  let next = 0;
  for (let time = first; time <= last; time += step) {
    for (; next < changes.length && (changes[next]?.at ?? 0) < time + step; next += 1)
      known = changes[next]?.size ?? known;
    times.push(time);
    values.push(known);
  }
  values[values.length - 1] = size;
  return { times, values };
}
