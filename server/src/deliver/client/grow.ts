import type { Pool } from './model.ts';

/** The pools that have fewer connections than POSTs. */
export type Growth = {
  /** Looks at the pool from now on, until no POST waits in it. */
  watch(pool: Pool): void;
  stop(): void;
};

/** Longer than most receivers take for an answer: a connection that is free by then saves a new one. */
const LOOK_MS = 10;

/**
 * A batch brings twenty POSTs at once, and a connection for each would be used once and pushed others out. So a pool that has
 * some gets as many again for every moment that POSTs wait: those of a fast receiver take turns on few, a slow one soon has all.
 */
export function openGrowth(ask: (pool: Pool, most: number) => void): Growth {
  const watched = new Set<Pool>();
  let timer: NodeJS.Timeout | undefined;
  function look(): void {
    for (const pool of watched) {
      if (pool.waiting.length === 0) watched.delete(pool);
      else ask(pool, Math.max(1, pool.open));
    }
    timer = watched.size === 0 ? undefined : setTimeout(look, LOOK_MS);
  }
  return {
    watch(pool) {
      watched.add(pool);
      timer ??= setTimeout(look, LOOK_MS);
    },
    stop() {
      watched.clear();
      clearTimeout(timer);
    },
  };
}
