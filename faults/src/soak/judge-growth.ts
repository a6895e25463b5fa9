import { SERIES, type Sample, type Series } from './series.ts';

/** Below this a slice is still warming up, and a trend in it says nothing. */
export const LEAST_MINUTES = 20;
/** From the second quarter of a slice to the last one. */
const MOST_GROWTH = 1.2;
/** Growth by less than this is noise, whatever the share. */
const NOISE: Readonly<Record<Series['unit'], number>> = { MB: 32, count: 32 };

export type Growth = { series: string; early: number; late: number; hasGrown: boolean };

/** Compares the medians of the second and the last quarter of a slice. Empty when the slice is too short to tell. */
export function judgeGrowth(samples: readonly Sample[], minutes: number): Growth[] {
  if (minutes < LEAST_MINUTES) return [];
  return Object.entries(SERIES).flatMap(([series, { unit, growsWithLoad }]) => {
    const between = (from: number, to: number) =>
      samples
        .filter(({ minute }) => minute >= from * minutes && minute < to * minutes)
        .flatMap(({ values }) => values[series] ?? []);
    const [early, late] = [median(between(0.25, 0.5)), median(between(0.75, 1))];
    if (early === undefined || late === undefined) return [];
    const hasGrown = growsWithLoad !== true && late > early * MOST_GROWTH + NOISE[unit];
    return [{ series, early, late, hasGrown }];
  });
}

function median(values: readonly number[]): number | undefined {
  return values.toSorted((a, b) => a - b)[Math.floor(values.length / 2)];
}
