/** Things that happen to deliveries, for the tests of the record. */
import * as fc from 'fast-check';
import type { OutcomeEntry } from '../src/domain/outcome.ts';

export const STATUS_OF = { delivered: 200, retry: 503, discarded: 404, expired: 500 } as const;
type Outcome = keyof typeof STATUS_OF;

const NOON = Date.parse(`${new Date().toISOString().slice(0, 10)}T12:00:00Z`);

export const BASE = {
  workspaceId: 'ws_1',
  sourceId: 'src_1',
  destinationId: 'dst_1',
  deliveryId: 'dlv_1',
  messageId: 'm-1',
  type: 'track',
  name: 'Signed Up',
  userId: 'u1',
  receivedAt: new Date(NOON).toISOString(),
} as const;

/** The n-th attempt, n seconds after noon. */
export function attempted(attempt: number, outcome: Outcome, status: number): OutcomeEntry {
  const at = NOON + attempt * 1_000;
  const answers = [{ url: 'http://127.0.0.1/hook', status, timings: { totalMs: 12.5 } }];
  const next = outcome === 'retry' ? { nextAt: at + 5_000 } : {};
  return { ...BASE, at, kind: 'attempt', attempt, outcome, ...next, answers };
}

/** Any things that can happen to one delivery, each at a moment of its own, in the order of time. */
export function facts(deliveryId = 'dlv_1'): fc.Arbitrary<OutcomeEntry[]> {
  const kinds = ['delivered', 'retry', 'discarded', 'expired', 'waiting', 'given_up', 'skipped'] as const;
  const given = fc.tuple(fc.constantFrom(...kinds), fc.constantFrom(undefined, 'rpl_1', 'rdr_2'));
  return fc.array(given, { minLength: 1, maxLength: 6 }).map((happened) => {
    let attempts = 0;
    return happened.map(([kind, replayId], index): OutcomeEntry => {
      const replay = replayId === undefined ? {} : { replayId };
      const base = { ...BASE, deliveryId, messageId: `m-${deliveryId}`, ...replay, at: NOON + (index + 1) * 1_000 };
      if (kind === 'waiting') return { ...base, kind, attempts };
      if (kind === 'given_up') return { ...base, kind, attempts, reason: 'lane_full' };
      if (kind === 'skipped') return { ...base, kind, reason: 'destination_disabled' };
      attempts += 1;
      return { ...attempted(attempts, kind, STATUS_OF[kind]), ...base };
    });
  });
}
