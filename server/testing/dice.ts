/** Random choices that a seed repeats. */
export type Dice = {
  /** A whole number from 0 up to `end`, without it. */
  below(end: number): number;
};

export function makeDice(seed: number): Dice {
  let state = seed >>> 0;
  return {
    below(end) {
      state = (state + 0x6d2b79f5) >>> 0;
      let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
      mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
      return Math.floor((((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32) * end);
    },
  };
}
