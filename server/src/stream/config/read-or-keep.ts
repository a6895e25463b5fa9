import type { Stored } from '../../domain/format.ts';

/** Throws for an entry that is unreadable or of a newer format: the view keeps the one before, and the watch logs it. */
export function readOrKeep<T>(read: Stored<T>): T {
  if (!read.ok) throw new Error(`${read.problem}: ${read.why}`);
  return read.value;
}
