/**
 * The order in which a backup takes its parts: along the flow. An event, a delivery or an outcome is written to the next part before
 * it leaves the one before, so a part that is taken earlier shows it again and never misses it. Taken the other way round, it could
 * have left the later part and not yet be in the earlier one.
 *
 * Quarantine comes before all: people put its entries back into any other part. Its supplement has the entries of later.
 */
import {
  AUDIT_STREAM,
  DEAD_STREAM,
  eventStreamIndex,
  laneStreamIndex,
  outcomesStreamIndex,
  QUARANTINE_STREAM,
  TICKETS_STREAM,
} from '@millrace/server/layout';

/** Each with the parts that take over from it further down. The database comes last of all. */
const ORDER: readonly ((name: string) => boolean)[] = [
  (name) => name === QUARANTINE_STREAM,
  (name) => eventStreamIndex(name) !== undefined,
  (name) => laneStreamIndex(name) !== undefined,
  (name) => name === TICKETS_STREAM,
  (name) => name === DEAD_STREAM,
  (name) => outcomesStreamIndex(name) !== undefined,
  (name) => /^KV_(config|health|worked|layout|floors)$/.test(name),
  // Ends of the audit log: the database must not be older than they are.
  (name) => name === AUDIT_STREAM,
];

/** Streams of Millrace in the order of a backup; those of other programs in the same account are left out. */
export function backupOrder(names: readonly string[]): string[] {
  return ORDER.flatMap((isNext) => names.filter(isNext).toSorted());
}

/**
 * The order in which the supplements are read, after all snapshots. Deliveries move within the lanes, from there to DEAD and
 * QUARANTINE, and back when a person retries them: so the walk goes against the flow and then along it, and each source is read
 * before its target in both directions.
 */
export function supplementOrder(names: readonly string[]): string[] {
  const lanes = names.filter((name) => laneStreamIndex(name) !== undefined).toSorted();
  const others = [QUARANTINE_STREAM, DEAD_STREAM].filter((name) => names.includes(name));
  return [...others, ...lanes, ...others.toReversed()];
}
