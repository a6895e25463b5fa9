import type { GiveUpReason } from '@millrace/contract/help';
import type { Delivery } from './delivery.ts';

export type DeadReason = Exclude<GiveUpReason, 'destination_deleted' | 'letter_refused'>;

/** A delivery that we stopped trying, as it is kept. */
export type DeadLetter = { reason: DeadReason; at: number; destinationId: string; delivery: Delivery };

/** The same event for the same receiver, from the beginning: but not to targets that have it. */
export function deliveryOfLetter(
  { delivery }: DeadLetter,
  { replayId, now }: { replayId: string; now: number },
): Delivery {
  const { id, event, sourceId, order, settled = {} } = delivery;
  const delivered = Object.entries(settled).filter(([, end]) => end === 'delivered');
  return {
    id,
    event,
    ...(sourceId === undefined ? {} : { sourceId }),
    ...(order === undefined ? {} : { order }),
    replayId,
    takenAt: now,
    attempts: 0,
    dueAt: now,
    ...(delivered.length === 0 ? {} : { settled: Object.fromEntries(delivered) }),
    history: [],
  };
}
