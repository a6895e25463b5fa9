import type { Connection } from './model.ts';

/** All connections that carry nothing at the moment. */
export type Idle = {
  add(connection: Connection): void;
  delete(connection: Connection): void;
  all(): Connection[];
};

/**
 * Keeps at most `most` idle connections. Beyond it, connections to receivers that do not work are closed first: when thousands of
 * them fail, the healthy ones must not lose theirs. Of equals, the one that is idle longest is closed.
 */
export function openIdle(most: number, drop: (connection: Connection) => void): Idle {
  const good = new Set<Connection>();
  const others = new Set<Connection>();
  return {
    add(connection) {
      (connection.pool.standing === 'works' ? good : others).add(connection);
      if (good.size + others.size <= most) return;
      const [first] = others.size > 0 ? others : good;
      if (first === undefined) return;
      // Taken off at once: many may come before the first of the dropped is closed.
      good.delete(first);
      others.delete(first);
      drop(first);
    },
    delete(connection) {
      good.delete(connection);
      others.delete(connection);
    },
    all: () => [...good, ...others],
  };
}
