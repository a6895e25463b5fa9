/**
 * PostgreSQL as the recorder uses it: transactions that write rows of deliveries. A transaction is committed as a whole or not at all;
 * its answer can get lost after the commit. The rows are folded by the product's own function.
 */
import type { OutcomeEntry } from '../../../server/src/domain/outcome.ts';
import { foldOutcome } from '../../../server/src/record/fold-outcome.ts';
import type { DeliveryRow } from '../../../server/src/store/deliveries.ts';
import type { Store, Tx } from '../../../server/src/store/open-store.ts';
import type { Random } from '../seeded-random.ts';
import { running, type VirtualClock } from './clock/virtual-clock.ts';

/** The part of transactions whose answer is lost, and whether the database is away. */
export type DatabaseMood = { isAway: boolean; lostAnswers: number };

export type ModelRecord = {
  store: Store;
  write(tx: Tx, entries: readonly OutcomeEntry[]): Promise<void>;
  rows: ReadonlyMap<string, DeliveryRow>;
  mood: DatabaseMood;
};

/** Class 08: the connection. */
export class ConnectionLost extends Error {
  readonly code = '08006';
}

export function openModelRecord(clock: VirtualClock, random: Random): ModelRecord {
  const rows = new Map<string, DeliveryRow>();
  const mood = { isAway: false, lostAnswers: 0 };

  function later(ms: number): Promise<void> {
    const process = running.getStore();
    return new Promise((resolve) => process !== undefined && clock.after(ms, process, resolve));
  }

  async function asSystem<T>(work: (tx: Tx) => Promise<T>): Promise<T> {
    await later(random.between(1, 20));
    if (mood.isAway) throw new ConnectionLost('the database is away');
    const written = new Map<string, DeliveryRow>();
    const result = await work(written as unknown as Tx);
    await later(random.between(1, 20));
    if (mood.isAway) throw new ConnectionLost('the database went away');
    for (const [id, row] of written) rows.set(id, merged(rows.get(id), row));
    if (random.next() < mood.lostAnswers) throw new ConnectionLost('the answer was lost');
    return result;
  }

  return {
    store: { asSystem } as unknown as Store,
    async write(tx, entries) {
      const written = tx as unknown as Map<string, DeliveryRow>;
      for (const entry of entries) {
        const before = written.get(entry.deliveryId) ?? rows.get(entry.deliveryId);
        written.set(entry.deliveryId, foldOutcome(before, entry).row);
      }
    },
    rows,
    mood,
  };
}

/** Recorders lock the rows that they write, so of two transactions the second one sees the first; here the ends of both count. */
function merged(before: DeliveryRow | undefined, row: DeliveryRow): DeliveryRow {
  if (before === undefined || before.state !== 'delivered' || row.state === 'delivered') return row;
  return before;
}
