/**
 * Items that wait for their turn. Each belongs to a key, and there to one of several lines: keys take turns, the lines of a key
 * take turns, and within a line the first item goes first.
 */
export type Turns<K, L, T> = {
  /** Adds an item at the end of its line. */
  add(place: { key: K; line: L }, item: T): void;
  /** Takes out the next item that may go, and moves its key and its line behind the others; undefined when none may. */
  next(may: TurnRule<K, T>): T | undefined;
  /** Takes out every item. */
  clear(): T[];
  size(): number;
};

export type TurnRule<K, T> = {
  /** Whether any item of this key may go. */
  key(key: K): boolean;
  item(item: T): boolean;
};

export function openTurns<K, L, T>(): Turns<K, L, T> {
  const keys = new Map<K, Map<L, T[]>>();
  let size = 0;
  return {
    add({ key, line }, item) {
      const lines = keys.get(key) ?? new Map<L, T[]>();
      keys.set(key, lines);
      const items = lines.get(line);
      if (items === undefined) lines.set(line, [item]);
      else items.push(item);
      size += 1;
    },
    next(may) {
      for (const [key, lines] of keys) {
        const item = may.key(key) ? takeFrom(lines, may.item) : undefined;
        if (item === undefined) continue;
        size -= 1;
        moveBehind(keys, key, lines.size > 0 ? lines : undefined);
        return item;
      }
      return undefined;
    },
    clear() {
      const items = [...keys.values()].flatMap((lines) => [...lines.values()].flat());
      keys.clear();
      size = 0;
      return items;
    },
    size: () => size,
  };
}

function takeFrom<L, T>(lines: Map<L, T[]>, mayGo: (item: T) => boolean): T | undefined {
  for (const [line, items] of lines) {
    const [first] = items;
    if (first === undefined || !mayGo(first)) continue;
    items.shift();
    moveBehind(lines, line, items.length > 0 ? items : undefined);
    return first;
  }
  return undefined;
}

/** A map keeps the order of insertion: inserted again, this entry comes last. */
function moveBehind<K, V>(map: Map<K, V>, key: K, value: V | undefined): void {
  map.delete(key);
  if (value !== undefined) map.set(key, value);
}
