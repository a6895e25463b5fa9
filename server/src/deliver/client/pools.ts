import type { Pool } from './model.ts';

export type Pools = {
  find(workspaceId: string, origin: string): Pool;
  /** Drops the pool when nothing is left of it. */
  tidy(pool: Pool): void;
  size(): number;
};

/**
 * A pool appears with its first POST (`find`) and is dropped when it has neither a POST nor a connection (`tidy`). Two levels of
 * maps, not one text made of both names: that text would have to be made and hashed for every POST.
 */
export function openPools(): Pools {
  const workspaces = new Map<string, Map<string, Pool>>();
  let size = 0;
  return {
    find(workspaceId, origin) {
      let pools = workspaces.get(workspaceId);
      if (pools === undefined) workspaces.set(workspaceId, (pools = new Map()));
      let pool = pools.get(origin);
      if (pool === undefined) {
        pool = { workspaceId, origin, idle: [], standing: 'unknown', open: 0, unanswered: 0, waiting: [], inLine: 0 };
        pools.set(origin, pool);
        size += 1;
      }
      return pool;
    },
    tidy(pool) {
      if (pool.open > 0 || pool.unanswered > 0) return;
      const pools = workspaces.get(pool.workspaceId);
      if (pools?.get(pool.origin) !== pool) return;
      pools.delete(pool.origin);
      size -= 1;
      if (pools.size === 0) workspaces.delete(pool.workspaceId);
    },
    size: () => size,
  };
}
