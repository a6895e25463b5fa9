/**
 * A bounded cache of recently used values. It has two generations; a value that is used moves to the young one. When the young one
 * is full, it becomes the old one, and the cache drops the values of the old one.
 */
type Recent<T> = {
  get(key: string): T | undefined;
  set(key: string, value: T, weight?: number): void;
  delete(key: string): void;
};

type Kept<T> = { value: T; weight: number };

export function openRecent<T>(most: number): Recent<T> {
  let young = new Map<string, Kept<T>>();
  let old = new Map<string, Kept<T>>();
  let weight = 0;

  function add(key: string, kept: Kept<T>): void {
    if (weight + kept.weight > most && young.size > 0) {
      old = young;
      young = new Map();
      weight = 0;
    }
    young.set(key, kept);
    weight += kept.weight;
  }

  return {
    get(key) {
      const found = young.get(key);
      if (found !== undefined) return found.value;
      const before = old.get(key);
      if (before === undefined) return undefined;
      old.delete(key);
      add(key, before);
      return before.value;
    },
    set(key, value, weightOfIt = 1) {
      this.delete(key);
      add(key, { value, weight: weightOfIt });
    },
    delete(key) {
      weight -= young.get(key)?.weight ?? 0;
      young.delete(key);
      old.delete(key);
    },
  };
}
