export type Pacer<Item> = {
  /** Lets the item in, now or when its turn comes; first come, first served. */
  ask(item: Item): void;
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

/** A token bucket with a waiting line. */
export function openPacer<Item>({ perSecond, now, admit }: Needs<Item>): Pacer<Item> {
  const bucket = openBucket(perSecond, now);
  let line: Item[] = [];
  let timer: NodeJS.Timeout | undefined;
  let isServing = false;
  let isStopped = false;

  function letIn(): void {
    isServing = true;
    let served = 0;
    for (const item of line) {
      if (bucket.waitMs() > 0) break;
      if (admit(item)) bucket.take();
      served += 1;
    }
    isServing = false;
    line = line.slice(served);
    timer = line.length === 0 ? undefined : setTimeout(letIn, Math.max(TICK_MS, bucket.waitMs()));
  }
  return {
    ask(item) {
      if (isStopped) return;
      line.push(item);
      if (timer === undefined && !isServing) letIn();
    },
    overdraw: () => bucket.take(),
    stop() {
      isStopped = true;
      line = [];
      clearTimeout(timer);
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
