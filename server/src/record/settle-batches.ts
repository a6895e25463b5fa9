import type { Logger } from '../log.ts';
import { isRefusedData } from '../store/open-store.ts';
import type { PulledOutcomes } from '../stream/open-record-side.ts';
import type { OutcomeEntry } from '../domain/outcome.ts';
import type { Quarantine } from '../stream/quarantine/quarantine.ts';
import type { ReadBatch } from './hold-batches.ts';

export type SettleNeeds = {
  /** All of them in one transaction. */
  write(entries: OutcomeEntry[]): Promise<void>;
  quarantine: Quarantine;
  log: Logger;
};

type Item = { batch: PulledOutcomes; entry: OutcomeEntry };
type Refused = Item & { error: unknown };

/**
 * Resolves when every entry is in PostgreSQL or in quarantine, and throws when some are in neither: then NATS redelivers all of
 * them, and those that are written change nothing.
 */
export async function settleBatches(batches: readonly ReadBatch[], needs: SettleNeeds): Promise<void> {
  const items = batches.flatMap(({ batch, entries }) => entries.map((entry) => ({ batch, entry })));
  for (const { batch, entry, error } of await writeSplitting(items, needs)) {
    await putAside(batch, JSON.stringify({ entries: [entry] }), String(error), needs);
  }
  for (const { batch, bad, unreadable: why } of batches) {
    for (const { item, why } of bad) await putAside(batch, JSON.stringify({ entries: [item] }), why, needs);
    if (why !== undefined) await putAside(batch, batch.payload, why, needs);
  }
}

/** Bisects the items that PostgreSQL refuses until each refused entry stands alone. Returns those. */
async function writeSplitting(items: Item[], needs: SettleNeeds): Promise<Refused[]> {
  if (items.length === 0) return [];
  try {
    await needs.write(items.map(({ entry }) => entry));
    return [];
  } catch (error) {
    if (!isRefusedData(error)) throw error;
    const [only] = items;
    if (items.length === 1 && only !== undefined) return [{ ...only, error }];
  }
  const middle = Math.ceil(items.length / 2);
  return [
    ...(await writeSplitting(items.slice(0, middle), needs)),
    ...(await writeSplitting(items.slice(middle), needs)),
  ];
}

async function putAside(
  { stream, subject, sequence, headers }: PulledOutcomes,
  payload: Uint8Array | string,
  why: string,
  { quarantine, log }: SettleNeeds,
): Promise<void> {
  const from = { stream, subject, sequence };
  const kept = await quarantine.append({ kind: 'outcome', payload: Buffer.from(payload), from, why, headers });
  if (kept !== 'stored') throw new Error(`the quarantine is ${kept} for what was refused: ${why}`);
  log.error({ sequence, error: why }, 'outcome.quarantined');
}
