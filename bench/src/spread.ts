/** The distribution of one figure over many slices. */
export type Spread = { median: number; min: number; max: number; isConclusive: boolean };

/** Wider than this between the tenth and the ninetieth part, and the machine was too busy to tell. */
const MAX_SPREAD = 1.25;

export function spreadOf(values: readonly number[]): Spread {
  const sorted = values.toSorted((a, b) => a - b);
  const low = sorted[Math.floor(sorted.length * 0.1)] ?? 0;
  const high = sorted[Math.ceil(sorted.length * 0.9) - 1] ?? 0;
  return {
    median: round(median(sorted)),
    min: round(sorted[0] ?? 0),
    max: round(sorted.at(-1) ?? 0),
    isConclusive: high / low <= MAX_SPREAD,
  };
}

export function median(values: readonly number[]): number {
  const sorted = values.toSorted((a, b) => a - b);
  return sorted[Math.floor(sorted.length / 2)] ?? 0;
}

export function round(value: number): number {
  return Math.round(value * 100) / 100;
}
