/** Dice that fall the same way again for the same seed, so that a red run can be repeated. */
export type Random = {
  /** From 0 up to 1. */
  next(): number;
  between(min: number, max: number): number;
  pick<T>(items: readonly [T, ...T[]]): T;
};

export function seededRandom(seed: number): Random {
  let state = seed >>> 0;
  const next = () => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
  return {
    next,
    between: (min, max) => min + next() * (max - min),
    pick: (items) => items[Math.floor(next() * items.length)] ?? items[0],
  };
}
