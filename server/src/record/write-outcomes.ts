import { addAttempts, type AttemptRow } from '../store/attempts.ts';
import { type DeliveryRow, lockRecord } from '../store/deliveries.ts';
import { addCounts, type CountRow } from '../store/delivery-counts.ts';
import type { Tx } from '../store/open-store.ts';
import { makeDayPartitions, makeMonthPartition } from '../store/record-partitions.ts';
import { makeChunkPartition } from '../store/outcome-exports.ts';
import { storable } from '../store/record-text.ts';
import { addOutcomeSlots } from '../store/slot-counts.ts';
import { slotOf } from '../stream/layout/record-slots.ts';
import type { OutcomeAnswer, OutcomeEntry } from '../domain/outcome.ts';
import { errorClassOf, foldOutcome, type RecordableEntry, tellingAnswer } from './fold-outcome.ts';
import { exportOutcomes } from './export-outcomes.ts';
import { forgetErased } from './forget-erased.ts';
import { isLeftOut, isSampled } from './sample.ts';
import { readStored, type StoredDeliveries } from './stored-deliveries.ts';

export type WriteNeeds = {
  /** From 0 to 1: how many of the attempts that went well at once are kept. */
  sample: number;
  /** From 0 to 1: how many of the deliveries that succeeded at once have a row. */
  rows: number;
  /** Events received on a day before this one have no row any more; they are only counted. */
  recordsFrom: string;
  /** How long records are kept, which decides with their rate how large a new partition is; without it a week. */
  retentionDays?: number;
  /** The day under which outcomes are kept for programs that follow them; without it the day of this host. */
  today?: string;
  /** Partitions that exist: days, and months as `2026-11`. */
  knownPartitions: ReadonlySet<string>;
};

type Counts = Map<string, CountRow>;

/**
 * Writes deliveries, attempts and counters of some batches in one transaction. Idempotent: a redelivered batch changes nothing, and only
 * programs that follow outcomes see it twice.
 */
export async function writeOutcomes(tx: Tx, outcomes: readonly OutcomeEntry[], needs: WriteNeeds): Promise<void> {
  const today = needs.today ?? new Date().toISOString().slice(0, 10);
  await makePartitions(tx, outcomes, { ...needs, today });
  await lockRecord(
    tx,
    outcomes.map(({ deliveryId }) => slotOf(deliveryId)),
  );
  // Under the lock: an erasure that waited for it finds every row that was written without knowing of the erasure.
  const entries = await forgetErased(tx, outcomes);
  const kept = entries.filter((entry) => isKept(entry, needs));
  const stored = await readStored(tx, kept);
  const { counts, recorded, withRows } = foldAll(entries, stored, needs);
  await stored.write(tx);
  await writeAttempts(tx, withRows, needs.sample, counts);
  await addCounts(tx, [...counts.values()]);
  await addOutcomeSlots(tx, [...counts.values()]);
  await exportOutcomes(tx, recorded, today);
}

const isKept = ({ receivedAt }: OutcomeEntry, { recordsFrom }: WriteNeeds) => receivedAt.slice(0, 10) >= recordsFrom;

type Folded = {
  counts: Counts;
  /** All that could be told apart, each with its workspace. */
  recorded: OutcomeEntry[];
  /** Those of deliveries with a row. */
  withRows: OutcomeEntry[];
};

function foldAll(entries: readonly RecordableEntry[], stored: StoredDeliveries, needs: WriteNeeds): Folded {
  const counts: Counts = new Map();
  const recorded: OutcomeEntry[] = [];
  const withRows: OutcomeEntry[] = [];
  for (const entry of entries) {
    const before = isKept(entry, needs) ? stored.rowOf(entry) : undefined;
    // A process that never knew the deleted destination wrote it: only an older row has the workspace.
    if (before === undefined && entry.workspaceId === '') continue;
    const { row, counted } = foldOutcome(before, entry);
    const told = entry.workspaceId === '' ? { ...entry, workspaceId: row.workspace_id } : entry;
    recorded.push(told);
    if (counted !== undefined) countOne(counts, told, counted);
    if (!isKept(entry, needs)) continue;
    const hasRow = stored.hasRow(entry);
    if (!hasRow && entry.kind === 'attempt' && isLeftOut(entry, needs.rows)) {
      stored.putPlain(entry);
      continue;
    }
    withRows.push(told);
    if (!hasRow || !isSame(before, row)) stored.put(row);
  }
  return { counts, recorded, withRows };
}

async function makePartitions(
  tx: Tx,
  entries: readonly OutcomeEntry[],
  { knownPartitions: known, recordsFrom, retentionDays = 7, today }: WriteNeeds & { today: string },
): Promise<void> {
  const days = new Set(entries.map(({ receivedAt }) => receivedAt.slice(0, 10)));
  const months = new Set(entries.map(({ at }) => new Date(at).toISOString().slice(0, 7)));
  for (const day of days) {
    if (day >= recordsFrom && !known.has(day)) await makeDayPartitions(tx, day, retentionDays);
  }
  for (const month of months) if (!known.has(month)) await makeMonthPartition(tx, `${month}-01`);
  if (!known.has(chunksOf(today))) await makeChunkPartition(tx, today);
}

/** As a name in `knownPartitions`. */
export const chunksOf = (day: string): string => `chunks of ${day}`;

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
