import { addAttempts, type AttemptRow } from '../store/attempts.ts';
import { deliveriesOfDay, type DeliveryRow, lockRecord, putDeliveries } from '../store/deliveries.ts';
import { addCounts, type CountRow } from '../store/delivery-counts.ts';
import type { Tx } from '../store/open-store.ts';
import { makeDayPartitions, makeMonthPartition } from '../store/record-partitions.ts';
import { storable } from '../store/record-text.ts';
import { addOutcomeSlots } from '../store/slot-counts.ts';
import type { OutcomeAnswer, OutcomeEntry } from '../domain/outcome.ts';
import { errorClassOf, foldOutcome, tellingAnswer } from './fold-outcome.ts';
import { forgetErased } from './forget-erased.ts';
import { isSampled } from './sample.ts';

export type WriteNeeds = {
  /** From 0 to 1: how many of the attempts that went well at once are kept. */
  sample: number;
  /** Events received on a day before this one have no row any more; they are only counted. */
  recordsFrom: string;
  /** Partitions that exist: days, and months as `2026-11`. */
  knownPartitions: ReadonlySet<string>;
};

type Counts = Map<string, CountRow>;

/** Writes deliveries, attempts and counters of some batches in one transaction. Idempotent: a redelivered batch changes nothing. */
export async function writeOutcomes(tx: Tx, outcomes: readonly OutcomeEntry[], needs: WriteNeeds): Promise<void> {
  const entries = await forgetErased(tx, outcomes);
  await makePartitions(tx, entries, needs);
  await lockRecord(tx);
  const counts: Counts = new Map();
  const kept = entries.filter(({ receivedAt }) => receivedAt.slice(0, 10) >= needs.recordsFrom);
  const rows = await readRows(tx, kept);
  const changed = new Map<string, DeliveryRow>();
  for (const entry of entries) {
    const isKept = entry.receivedAt.slice(0, 10) >= needs.recordsFrom;
    const key = keyOf(entry);
    const before = isKept ? rows.get(key) : undefined;
    // A process that never knew the deleted destination wrote it: only an older row has the workspace.
    if (before === undefined && entry.workspaceId === '') continue;
    const { row, counted } = foldOutcome(before, entry);
    if (counted !== undefined) countOne(counts, { ...entry, workspaceId: row.workspace_id }, counted);
    if (!isKept || isSame(before, row)) continue;
    rows.set(key, row);
    changed.set(key, row);
  }
  await putDeliveries(tx, [...changed.values()]);
  await writeAttempts(tx, kept, needs.sample, counts);
  await addCounts(tx, [...counts.values()]);
  await addOutcomeSlots(tx, [...counts.values()]);
}

const keyOf = ({ deliveryId, receivedAt }: OutcomeEntry) => `${receivedAt.slice(0, 10)} ${deliveryId}`;

async function makePartitions(
  tx: Tx,
  entries: readonly OutcomeEntry[],
  { knownPartitions: known, recordsFrom }: WriteNeeds,
): Promise<void> {
  const days = new Set(entries.map(({ receivedAt }) => receivedAt.slice(0, 10)));
  const months = new Set(entries.map(({ at }) => new Date(at).toISOString().slice(0, 7)));
  for (const day of days) if (day >= recordsFrom && !known.has(day)) await makeDayPartitions(tx, day);
  for (const month of months) if (!known.has(month)) await makeMonthPartition(tx, `${month}-01`);
}

/** The stored rows of the deliveries that the entries are about. */
async function readRows(tx: Tx, entries: readonly OutcomeEntry[]): Promise<Map<string, DeliveryRow>> {
  const idsByDay = Map.groupBy(entries, ({ receivedAt }) => receivedAt.slice(0, 10));
  const rows = new Map<string, DeliveryRow>();
  for (const [day, ofDay] of idsByDay) {
    const ids = [...new Set(ofDay.map(({ deliveryId }) => deliveryId))];
    for (const row of await deliveriesOfDay(tx, day, ids)) rows.set(`${day} ${row.id}`, row);
  }
  return rows;
}

function isSame(before: DeliveryRow | undefined, row: DeliveryRow): boolean {
  if (before === undefined) return false;
  return (Object.keys(row) as (keyof DeliveryRow)[]).every((name) => sameValue(before[name], row[name]));
}

function sameValue(one: unknown, other: unknown): boolean {
  return one instanceof Date && other instanceof Date ? one.getTime() === other.getTime() : one === other;
}

type AttemptEntry = Extract<OutcomeEntry, { kind: 'attempt' }>;

/** A retry is counted when its row is new, so each counts once. */
async function writeAttempts(tx: Tx, entries: readonly OutcomeEntry[], sample: number, counts: Counts): Promise<void> {
  const attempts = entries.filter(
    (entry): entry is AttemptEntry => entry.kind === 'attempt' && isSampled(entry, sample),
  );
  const byKey = new Map(attempts.map((entry) => [attemptKey(entry.deliveryId, entry.at, entry.attempt), entry]));
  const retries = await addAttempts(tx, [...byKey.values()].map(attemptRow));
  for (const { delivery_id: id, at, attempt } of retries) {
    const entry = byKey.get(attemptKey(id, at.getTime(), attempt));
    if (entry !== undefined) {
      countOne(counts, entry, { outcome: 'retry', errorClass: errorClassOf(tellingAnswer(entry)) });
    }
  }
}

const attemptKey = (deliveryId: string, at: number, attempt: number) => `${deliveryId} ${at} ${attempt}`;

function attemptRow(entry: AttemptEntry): AttemptRow {
  return {
    workspace_id: entry.workspaceId,
    delivery_id: entry.deliveryId,
    received_on: entry.receivedAt.slice(0, 10),
    destination_id: entry.destinationId,
    at: new Date(entry.at),
    attempt: entry.attempt,
    outcome: entry.outcome,
    total_ms: Math.max(0, ...entry.answers.map(({ timings }) => timings.totalMs)),
    answers: entry.answers.map(storableAnswer),
    next_at: entry.nextAt === undefined ? null : new Date(entry.nextAt),
    replay_id: entry.replayId ?? null,
  };
}

function storableAnswer({ url, message, body, ...rest }: OutcomeAnswer): Record<string, unknown> {
  return {
    ...rest,
    url: storable(url),
    ...(message === undefined ? {} : { message: storable(message) }),
    ...(body === undefined ? {} : { body: storable(body) }),
  };
}

function countOne(
  counts: Counts,
  { workspaceId, destinationId, at }: OutcomeEntry,
  { outcome, errorClass }: { outcome: string; errorClass: string },
): void {
  const minute = new Date(at - (at % 60_000));
  const key = `${destinationId} ${minute.getTime()} ${outcome} ${errorClass}`;
  const known = counts.get(key);
  if (known !== undefined) known.count += 1;
  else {
    const of = { workspace_id: workspaceId, destination_id: destinationId, minute };
    counts.set(key, { ...of, outcome, error_class: errorClass, count: 1 });
  }
}
