import { median, round, type Spread, spreadOf } from '../spread.ts';
import type { Cost, Slice } from './measure.ts';

/** The cost of the first contender by that of the second, in each slice. */
export function ratio(slices: Slice[], first: string, second: string): Spread {
  return spreadOf(slices.map((slice) => (slice[first]?.us ?? NaN) / (slice[second]?.us ?? NaN)));
}

export function costs(slices: Slice[], of: keyof Cost): Record<string, number> {
  const names = Object.keys(slices[0] ?? {}).sort();
  return Object.fromEntries(
    names.map((name) => [name, round(median(slices.map((slice) => slice[name]?.[of] ?? NaN)))]),
  );
}
