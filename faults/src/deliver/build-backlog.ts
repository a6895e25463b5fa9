import { once } from 'node:events';
import { join } from 'node:path';
import { forkWithUs } from '../fork-with-us.ts';
import type { BacklogOrder } from './backlog-process.ts';
import type { Arrival } from './read-arrival.ts';

/** Counts what arrived of a backlog, in a byte for each event: a million records would be a burden themselves. */
export type BacklogCount = {
  /** False for events of the backlog. */
  isOther(arrival: Arrival): boolean;
  delivered(): number;
  repeated(): number;
  problems(): number;
  /** When the first and the last of them were delivered. */
  firstAt(): number;
  lastAt(): number;
  /** The most in any second. */
  mostPerSecond(): number;
};

const PREFIX = 'backlog-';

export function countBacklog(size: number): BacklogCount {
  const seen = new Uint8Array(size);
  const perSecond = new Map<number, number>();
  const counts = { delivered: 0, repeated: 0, problems: 0, firstAt: Infinity, lastAt: 0 };
  function note({ messageId, at, problem }: Arrival): void {
    const index = Number(messageId.slice(PREFIX.length));
    if (seen[index] === 0) counts.delivered += 1;
    else counts.repeated += 1;
    seen[index] = 1;
    if (problem !== undefined) counts.problems += 1;
    counts.firstAt = Math.min(counts.firstAt, at);
    counts.lastAt = Math.max(counts.lastAt, at);
    const second = Math.floor(at / 1_000);
    perSecond.set(second, (perSecond.get(second) ?? 0) + 1);
  }
  return {
    isOther(arrival) {
      if (!arrival.messageId.startsWith(PREFIX)) return true;
      if (arrival.status === 200) note(arrival);
      return false;
    },
    delivered: () => counts.delivered,
    repeated: () => counts.repeated,
    problems: () => counts.problems,
    firstAt: () => counts.firstAt,
    lastAt: () => counts.lastAt,
    mostPerSecond: () => Math.max(...perSecond.values()),
  };
}

/** Has another process append the events: the effort of making them must not be taken for the server's. */
export async function buildBacklog(order: Omit<BacklogOrder, 'prefix'>): Promise<void> {
  using building = forkWithUs(join(import.meta.dirname, 'backlog-process.ts'));
  building.child.send({ ...order, prefix: PREFIX } satisfies BacklogOrder);
  const [code] = await once(building.child, 'exit');
  if (code !== 0) throw new Error(`the backlog could not be built: exit code ${code}`);
}
