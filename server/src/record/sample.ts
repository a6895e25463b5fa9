import { hash } from 'node:crypto';
import type { OutcomeEntry } from '../domain/outcome.ts';

/**
 * Whether an attempt is stored with its answers. Only first attempts that succeeded are ever left out, by a hash, so that a
 * redelivered one gets the same decision. All counters are always stored.
 */
export function isSampled(entry: Extract<OutcomeEntry, { kind: 'attempt' }>, sample: number): boolean {
  if (sample >= 1 || entry.outcome !== 'delivered' || entry.attempt > 1) return true;
  return placeOf(entry.deliveryId) < sample;
}

/**
 * Whether a delivery is left out of the rows, if it has none yet. Deletion requests look for the rows of their notifications, replays for
 * those of what they sent, and profiles for those of their computed calls.
 */
export function isLeftOut(entry: OutcomeEntry, rows: number): boolean {
  if (rows >= 1 || entry.kind !== 'attempt' || entry.outcome !== 'delivered' || entry.attempt > 1) return false;
  if (entry.type === 'delete' || entry.messageId.startsWith(COMPUTED) || entry.letter !== undefined) return false;
  if (entry.replayId !== undefined) return false;
  return placeOf(entry.deliveryId) >= rows;
}

/** How the ids of computed calls begin. */
const COMPUTED = 'cmp_';

function placeOf(deliveryId: string): number {
  return Number.parseInt(hash('sha1', deliveryId).slice(0, 8), 16) / 0x1_0000_0000;
}
