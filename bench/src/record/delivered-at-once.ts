import { hash } from 'node:crypto';
import type { OutcomeEntry } from '../../../server/src/domain/outcome.ts';

/** A delivery that succeeds at its first attempt, as most of the record does. */
export function deliveredAtOnce(number: number, at: number): OutcomeEntry {
  return {
    workspaceId: 'ws_bench',
    sourceId: `src_${number % 20}`,
    destinationId: `dst_${number % 100}`,
    deliveryId: `dlv_${hash('sha1', String(number), 'base64url')}`,
    messageId: `m-${number}`,
    type: 'track',
    name: `Event ${number % 50}`,
    userId: `user-${(number * 31) % 1_000_000}`,
    receivedAt: new Date(at).toISOString(),
    at,
    kind: 'attempt',
    attempt: 1,
    outcome: 'delivered',
    answers: [
      { url: 'https://hooks.example.com/orders', status: 200, address: '203.0.113.7', timings: { totalMs: 43.5 } },
    ],
  };
}
