/**
 * The order in which a backup takes its parts: along the flow. An event, a delivery or an outcome is written to the next part before
 * it leaves the one before, so a part that is taken earlier shows it again and never misses it. Taken the other way round, it could
 * have left the later part and not yet be in the earlier one.
 */
import {
  AUDIT_STREAM,
  DEAD_STREAM,
  eventStreamIndex,
  laneStreamIndex,
  OUTCOMES_STREAM,
  QUARANTINE_STREAM,
  TICKETS_STREAM,
} from '@millrace/server/layout';

/** Each with the parts that take over from it further down. The database comes last of all. */
const ORDER: readonly ((name: string) => boolean)[] = [
  (name) => eventStreamIndex(name) !== undefined,
  (name) => laneStreamIndex(name) !== undefined,
  (name) => name === TICKETS_STREAM,
  (name) => name === DEAD_STREAM,
  (name) => name === OUTCOMES_STREAM,
  (name) => name === QUARANTINE_STREAM,
  (name) => /^KV_(config|health|worked|layout)$/.test(name),
  // Ends of the audit log: the database must not be older than they are.
  (name) => name === AUDIT_STREAM,
];

/** Streams of Millrace in the order of a backup; those of other programs in the same account are left out. */
export function backupOrder(names: readonly string[]): string[] {
  return ORDER.flatMap((isNext) => names.filter(isNext).toSorted());
}
