export type Pacer<Item> = {
  /**
   * Lets the item in, now or when its turn comes. There are two lines, which take turns: however many come who never did any
   * good, those who did stand behind their like only. In a line it is first come, first served.
   */
  ask(item: Item, isGood: boolean): void;
  /** Counts one that could not wait; those who can, wait longer for it. */
  overdraw(): void;
  /** Forgets everyone who waits or will come. */
  stop(): void;
};

type Needs<Item> = {
  perSecond: number;
  now: () => number;
  /** False when the item has no use for its turn any more: the next one gets it. */
  admit: (item: Item) => boolean;
};

/** How far apart two wake-ups are at least: a timer for each token would cost more than the few that it lets in early. */
const TICK_MS = 10;

/** A token bucket with two waiting lines. */
export function openPacer<Item>({ perSecond, now, admit }: Needs<Item>): Pacer<Item> {
  const bucket = openBucket(perSecond, now);
  const lines = openLines<Item>();
  let timer: NodeJS.Timeout | undefined;
  let isServing = false;
  let isStopped = false;

  function letIn(): void {
    isServing = true;
    while (lines.size() > 0 && bucket.waitMs() === 0) if (admit(lines.next())) bucket.take();
    isServing = false;
    timer = lines.size() === 0 ? undefined : setTimeout(letIn, Math.max(TICK_MS, bucket.waitMs()));
  }
  return {
    ask(item, isGood) {
      if (isStopped) return;
      lines.add(item, isGood);
      if (timer === undefined && !isServing) letIn();
    },
    overdraw: () => bucket.take(),
    stop() {
      isStopped = true;
      lines.clear();
      clearTimeout(timer);
    },
  };
}

type Lines<Item> = {
  add(item: Item, isGood: boolean): void;
  /** Of the two lines in turn, as long as somebody stands in both. There must be one. */
  next(): Item;
  size(): number;
  clear(): void;
};

function openLines<Item>(): Lines<Item> {
  let [inTurn, after]: [Item[], Item[]] = [[], []];
  const good = inTurn;
  const others = after;
  return {
    add: (item, isGood) => void (isGood ? good : others).push(item),
    next() {
      if (after.length > 0) [inTurn, after] = [after, inTurn];
      return inTurn.shift() as Item;
    },
    size: () => good.length + others.length,
    clear() {
      good.length = 0;
      others.length = 0;
    },
  };
}

type Bucket = { waitMs(): number; take(): void };

/** It holds a tenth of a second, so that an idle process does not start with a stampede. */
function openBucket(perSecond: number, now: () => number): Bucket {
  const burst = Math.max(1, perSecond / 10);
  let tokens = burst;
  let filledAt = now();
  return {
    waitMs() {
      const at = now();
      tokens = Math.min(burst, tokens + ((at - filledAt) / 1_000) * perSecond);
      filledAt = at;
      return tokens >= 1 ? 0 : ((1 - tokens) / perSecond) * 1_000;
    },
    take() {
      tokens -= 1;
    },
  };
}
