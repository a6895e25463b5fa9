import { hash } from 'node:crypto';
import type { OutcomeEntry } from '../domain/outcome.ts';

/**
 * Whether an attempt is kept with its answers. Only those that went well at once are ever left out, the same ones however
 * often they come; the delivery itself and all counters are kept always.
 */
export function isSampled(entry: Extract<OutcomeEntry, { kind: 'attempt' }>, sample: number): boolean {
  if (sample >= 1 || entry.outcome !== 'delivered' || entry.attempt > 1) return true;
  return Number.parseInt(hash('sha1', entry.deliveryId).slice(0, 8), 16) / 0x1_0000_0000 < sample;
}
