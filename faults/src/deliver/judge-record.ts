import { type Complaint, trueOnes } from '../complaints.ts';
import type { Findings } from '../run-fault.ts';
import type { Arrival } from './read-arrival.ts';

export type RecordEvidence = {
  deliveries: readonly { messageId: string; destinationId: string; state: string }[];
  counts: ReadonlyMap<string, number>;
};

/** The record never lies: it says delivered of what a receiver took, of nothing else, and counts each of them once. */
export function judgeRecord({ deliveries, counts }: RecordEvidence, arrivals: readonly Arrival[]): Findings {
  const nameOf = (one: { messageId: string; destinationId: string }) => `${one.messageId} → ${one.destinationId}`;
  const taken = new Set(arrivals.filter(({ status }) => status >= 200 && status < 300).map(nameOf));
  const told = new Set(deliveries.filter(({ state }) => state === 'delivered').map(nameOf));
  const missing = [...taken.difference(told)];
  const madeUp = [...told.difference(taken)];
  const counted = counts.get('delivered') ?? 0;
  const complaints: Complaint[] = [
    [
      missing.length > 0,
      `${missing.length} deliveries arrived, and the record does not say so: ${missing.slice(0, 3).join()}`,
    ],
    [
      madeUp.length > 0,
      `${madeUp.length} deliveries never arrived, and the record says they did: ${madeUp.slice(0, 3).join()}`,
    ],
    [counted !== taken.size, `${counted} deliveries are counted as delivered, but ${taken.size} were`],
  ];
  return {
    failures: trueOnes(complaints),
    late: [],
    figures: { recordedDelivered: told.size, countedDelivered: counted, countedRetries: counts.get('retry') ?? 0 },
  };
}
