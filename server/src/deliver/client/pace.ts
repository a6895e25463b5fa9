import { newTokenBucket, refill, secondsToToken } from '../../domain/token-bucket.ts';

/** Whether a receiver works, as far as this process knows. */
export type Standing = 'works' | 'unknown' | 'failing';

export type Pacer<Item> = {
  /**
   * Lets the item in, now or when its turn comes. Each standing has a line, and the lines take turns: failing receivers queue
   * separately from healthy and unknown ones. A line is first in, first out.
   */
  ask(item: Item, standing: Standing): void;
  /** Takes a token for an item that cannot wait; the waiting ones wait longer. */
  overdraw(): void;
  /** Forgets all waiting items, and takes no more. */
  stop(): void;
};

type Needs<Item> = {
  perSecond: number;
  now: () => number;
  /** False when the item has no use for its turn any more: the next item gets it. */
  admit: (item: Item) => boolean;
  /** The part of a token that the item takes; one, if this is left out. */
  cost?: (item: Item) => number;
};

/** How far apart two wake-ups are at least: a timer for each token would cost more than the few that it lets in early. */
const TICK_MS = 10;
/** At most this many are let in within a tick: opening a connection takes half a millisecond of the event loop. */
const MOST_A_TICK = 15;

/** A token bucket with three waiting lines. It holds a tenth of a second, so that an idle process does not start with a stampede. */
export function openPacer<Item>({ perSecond, now, admit, cost = () => 1 }: Needs<Item>): Pacer<Item> {
  const burst = Math.max(1, perSecond / 10);
  const bucket = newTokenBucket(burst, now());
  const lines = openLines<Item>();
  let timer: NodeJS.Timeout | undefined;
  let isServing = false;
  let isStopped = false;
  let tick = { at: -Infinity, letIn: 0 };

  function waitMs(): number {
    refill(bucket, now(), perSecond, burst);
    return secondsToToken(bucket, perSecond) * 1_000;
  }

  function letIn(): void {
    isServing = true;
    if (now() - tick.at >= TICK_MS) tick = { at: now(), letIn: 0 };
    while (lines.size() > 0 && waitMs() === 0 && tick.letIn < MOST_A_TICK) {
      const item = lines.next();
      if (!admit(item)) continue;
      bucket.tokens -= cost(item);
      tick.letIn += 1;
    }
    isServing = false;
    timer = lines.size() === 0 ? undefined : setTimeout(letIn, Math.max(TICK_MS, waitMs()));
  }
  return {
    ask(item, standing) {
      if (isStopped) return;
      lines.add(item, standing);
      if (timer === undefined && !isServing) letIn();
    },
    overdraw() {
      bucket.tokens -= 1;
    },
    stop() {
      isStopped = true;
      lines.clear();
      clearTimeout(timer);
    },
  };
}

type Lines<Item> = {
  add(item: Item, standing: Standing): void;
  /** Of the lines in turn; those in which nothing waits are passed over. There must be one. */
  next(): Item;
  size(): number;
  clear(): void;
};

function openLines<Item>(): Lines<Item> {
  const lines: Record<Standing, Item[]> = { works: [], unknown: [], failing: [] };
  const inTurn = Object.values(lines);
  return {
    add: (item, standing) => void lines[standing].push(item),
    next() {
      const at = inTurn.findIndex((line) => line.length > 0);
      const [line = []] = inTurn.splice(at, 1);
      inTurn.push(line);
      return line.shift() as Item;
    },
    size: () => inTurn.reduce((sum, line) => sum + line.length, 0),
    clear() {
      for (const line of inTurn) line.length = 0;
    },
  };
}
