/** Deliveries as a transaction of the recorder finds and changes them: with a row, or plain, which is only counted. */
import type { OutcomeEntry } from '../domain/outcome.ts';
import { deliveriesOfDay, type DeliveryRow, putDeliveries } from '../store/deliveries.ts';
import type { Tx } from '../store/open-store.ts';
import { type PlainDelivery, plainOfDay, putPlain } from '../store/plain-deliveries.ts';
import { foldOutcome, type RecordableEntry, tellingAnswer } from './fold-outcome.ts';

export type StoredDeliveries = {
  /** The row before this outcome; of a plain delivery, the row that it would have. */
  rowOf(entry: RecordableEntry): DeliveryRow | undefined;
  hasRow(entry: OutcomeEntry): boolean;
  put(row: DeliveryRow): void;
  /** Notes a delivery that is to have no row. */
  putPlain(entry: Extract<OutcomeEntry, { kind: 'attempt' }>): void;
  write(tx: Tx): Promise<void>;
};

/** Reads the deliveries that the entries are about. */
export async function readStored(tx: Tx, entries: readonly OutcomeEntry[]): Promise<StoredDeliveries> {
  const rows = new Map<string, DeliveryRow>();
  const plain = new Map<string, PlainDelivery>();
  for (const [day, ofDay] of Map.groupBy(entries, dayOf)) {
    const ids = new Set(ofDay.map(({ deliveryId }) => deliveryId));
    for (const row of await deliveriesOfDay(tx, day, [...ids])) {
      rows.set(`${day} ${row.id}`, row);
      ids.delete(row.id);
    }
    for (const one of await plainOfDay(tx, day, [...ids])) plain.set(`${day} ${one.id}`, one);
  }
  const changed = new Map<string, DeliveryRow>();
  const changedPlain = new Map<string, PlainDelivery>();
  return {
    rowOf(entry) {
      const key = keyOf(entry);
      const known = plain.get(key);
      return rows.get(key) ?? (known === undefined ? undefined : rowOfPlain(known, entry));
    },
    hasRow: (entry) => rows.has(keyOf(entry)),
    put(row) {
      const key = `${row.received_on} ${row.id}`;
      rows.set(key, row);
      changed.set(key, row);
    },
    putPlain(entry) {
      const key = keyOf(entry);
      const known = plain.get(key);
      if (known !== undefined && known.delivered_at.getTime() <= entry.at) return;
      const one = plainOf(entry);
      plain.set(key, one);
      changedPlain.set(key, one);
    },
    async write(tx) {
      await putDeliveries(tx, [...changed.values()]);
      await putPlain(tx, [...changedPlain.values()]);
    },
  };
}

const dayOf = ({ receivedAt }: OutcomeEntry) => receivedAt.slice(0, 10);
const keyOf = (entry: OutcomeEntry) => `${dayOf(entry)} ${entry.deliveryId}`;

function plainOf(entry: Extract<OutcomeEntry, { kind: 'attempt' }>): PlainDelivery {
  return {
    workspace_id: entry.workspaceId,
    id: entry.deliveryId,
    received_on: dayOf(entry),
    delivered_at: new Date(entry.at),
    status: tellingAnswer(entry)?.status ?? null,
  };
}

/** Folds the outcome that was left out again, with the event of another outcome of the same delivery. */
function rowOfPlain({ workspace_id, delivered_at, status }: PlainDelivery, entry: RecordableEntry): DeliveryRow {
  const { sourceId, destinationId, deliveryId, messageId, type, name, userId, anonymousId, receivedAt } = entry;
  const event = { sourceId, destinationId, deliveryId, messageId, type, name, userId, anonymousId, receivedAt };
  return foldOutcome(undefined, {
    ...event,
    workspaceId: workspace_id,
    at: delivered_at.getTime(),
    kind: 'attempt',
    attempt: 1,
    outcome: 'delivered',
    answers: [{ url: '', status: status ?? undefined, timings: { totalMs: 0 } }],
  }).row;
}
