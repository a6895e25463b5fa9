/** Random choices that a seed repeats, so that a test of the demo sees the same calls at each run. */
export type Dice = {
  /** From 0 up to 1. */
  next(): number;
  /** A whole number from `low` to `high`, both included. */
  whole(low: number, high: number): number;
  /** True for this share of all throws. */
  isWithin(share: number): boolean;
  /** One of the items. Throws when there is none. */
  pick<T>(list: readonly T[]): T;
};

/** Mulberry32: small, fast and even enough for made-up calls. */
export function openDice(seed: number): Dice {
  let state = seed >>> 0;
  function next(): number {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 0x1_0000_0000;
  }
  const whole = (low: number, high: number) => low + Math.floor(next() * (high - low + 1));
  return {
    next,
    whole,
    isWithin: (share) => next() < share,
    pick<T>(list: readonly T[]): T {
      if (list.length === 0) throw new Error('there is nothing to pick from');
      return list[whole(0, list.length - 1)] as T;
    },
  };
}
