import { nuid } from '@nats-io/nats-core';
import { FORMAT_HEADER, OUTCOME_FORMATS, type OutcomeFormat } from '../../domain/format.ts';
import type { Metrics } from '../../metrics/open-metrics.ts';
import { outcomesSubject } from '../layout/layout.ts';
import { outcomesHome } from '../layout/record-slots.ts';
import { type DurableNeeds, keptOrNot, publishDurably } from '../nats/publish-durably.ts';

export type Outcomes = {
  /** The number of the stream that the outcomes of a delivery belong to. */
  homeOf(deliveryId: string): number;
  format: OutcomeFormat;
  /** Stores a batch of that format in its home stream, or in another while that one cannot. Resolves with the answer of NATS. */
  append(batch: string, home?: number): Promise<'stored' | 'full' | 'unavailable'>;
};

export type OutcomesNeeds = DurableNeeds & { metrics: Metrics };

/** Shorter than an election: another stream takes the batch meanwhile. */
const HOME_PATIENCE_MS = 1_000;
/** How long a stream that did not answer is asked last. */
const AWAY_MS = 5_000;

/**
 * A batch may be in any stream, and in two of them after an answer that got lost: the recorders lock by delivery and not by stream,
 * and a repeated outcome changes nothing.
 */
export function openOutcomes({ metrics, ...needs }: OutcomesNeeds, streams: number): Outcomes {
  const elsewhere = metrics.counter('millrace_outcomes_elsewhere_total');
  const format = streams === 1 ? 'whole' : 'lean';
  const headers = [[FORMAT_HEADER, String(OUTCOME_FORMATS[format])]] as const;
  const awayUntil = Array.from({ length: streams }, () => 0);

  function inTurn(home: number): number[] {
    const all = awayUntil.map((_, step) => (home + step) % streams);
    const isAway = (index: number) => (awayUntil[index] ?? 0) > performance.now();
    return [...all.filter((index) => !isAway(index)), ...all.filter(isAway)];
  }

  async function appendTo(index: number, payload: Uint8Array): Promise<'stored' | 'full' | 'unavailable'> {
    const publication = { subject: outcomesSubject(index), id: nuid.next(), headers, payload };
    const patienceMs = streams === 1 ? undefined : HOME_PATIENCE_MS;
    const answer = keptOrNot(await publishDurably(publication, needs, patienceMs));
    awayUntil[index] = answer === 'unavailable' ? performance.now() + AWAY_MS : 0;
    return answer;
  }

  return {
    format,
    homeOf: (deliveryId) => outcomesHome(deliveryId, streams),
    async append(batch, home = 0) {
      const payload = Buffer.from(batch);
      let answer: 'full' | 'unavailable' = 'unavailable';
      for (const index of inTurn(home)) {
        const found = await appendTo(index, payload);
        if (found === 'stored' && index !== home) elsewhere.add();
        if (found === 'stored') return found;
        // A full stream decides: waiting for one that may never come back would hold up deliveries.
        if (found === 'full') answer = found;
      }
      return answer;
    },
  };
}
