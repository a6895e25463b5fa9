/**
 * Each delivery belongs to one of 64 slots of the record, by the hash of its id. The number never changes: the recorders lock slots,
 * so two of them never work on the same delivery at once, whichever stream its outcomes are in. The stream is only a matter of
 * throughput: with any number of streams, slots that share one are written by one recorder.
 */
import { hashOf } from './lane-places.ts';

export const RECORD_SLOTS = 64;

export function slotOf(deliveryId: string): number {
  return hashOf(deliveryId) % RECORD_SLOTS;
}

/** The number of the stream, of so many, that the outcomes of a delivery go to. */
export function outcomesHome(deliveryId: string, streams: number): number {
  return slotOf(deliveryId) % streams;
}
