import { hash } from 'node:crypto';
import type { OutcomeEntry } from '../domain/outcome.ts';

/**
 * Whether an attempt is stored with its answers. Only first attempts that succeeded are ever left out, by a hash, so that a
 * redelivered one gets the same decision. The delivery itself and all counters are always stored.
 */
export function isSampled(entry: Extract<OutcomeEntry, { kind: 'attempt' }>, sample: number): boolean {
  if (sample >= 1 || entry.outcome !== 'delivered' || entry.attempt > 1) return true;
  return Number.parseInt(hash('sha1', entry.deliveryId).slice(0, 8), 16) / 0x1_0000_0000 < sample;
}
