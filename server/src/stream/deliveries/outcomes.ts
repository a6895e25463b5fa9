import { nuid } from '@nats-io/nats-core';
import { FORMAT_HEADER, OUTCOME_FORMATS, type OutcomeFormat } from '../../domain/format.ts';
import type { Metrics } from '../../metrics/open-metrics.ts';
import { outcomesSubject } from '../layout/layout.ts';
import { outcomesHome } from '../layout/record-slots.ts';
import { type DurableNeeds, keptOrNot, publishDurably } from '../nats/publish-durably.ts';
import { openAwayStreams } from './away-streams.ts';

export type Outcomes = {
  /** The number of the stream that the outcomes of a delivery belong to. */
  homeOf(deliveryId: string): number;
  format: OutcomeFormat;
  /** Stores a batch of that format in its home stream, or in another while that one cannot. Resolves with the answer of NATS. */
  append(batch: string, home?: number): Promise<'stored' | 'full' | 'unavailable'>;
};

export type OutcomesNeeds = DurableNeeds & { metrics: Metrics };

/** Shorter than an election: another stream takes the batch meanwhile. A server that says nothing at all gets two seconds. */
const HOME_PATIENCE_MS = 1_000;

/**
 * A batch may be in any stream, and in two of them after an answer that got lost: the recorders lock by delivery and not by stream,
 * and a repeated outcome changes nothing.
 */
export function openOutcomes({ metrics, ...needs }: OutcomesNeeds, streams: number): Outcomes {
  const elsewhere = metrics.counter('millrace_outcomes_elsewhere_total');
  const format = streams === 1 ? 'whole' : 'lean';
  const headers = [[FORMAT_HEADER, String(OUTCOME_FORMATS[format])]] as const;
  const away = openAwayStreams();

  function inTurn(home: number): number[] {
    const all = Array.from({ length: streams }, (_, step) => (home + step) % streams);
    const isAway = (index: number) => away.isAway(index);
    return [...all.filter((index) => !isAway(index)), ...all.filter(isAway)];
  }

  async function appendTo(index: number, payload: Uint8Array): Promise<'stored' | 'full' | 'unavailable'> {
    const publication = { subject: outcomesSubject(index), id: nuid.next(), headers, payload };
    const patienceMs = streams === 1 ? undefined : HOME_PATIENCE_MS;
    const answer = keptOrNot(await publishDurably(publication, needs, patienceMs));
    away.note(index, answer !== 'unavailable');
    return answer;
  }

  return {
    format,
    homeOf: (deliveryId) => outcomesHome(deliveryId, streams),
    async append(batch, home = 0) {
      const payload = Buffer.from(batch);
      let isFull = false;
      let mayComeBack = false;
      for (const index of inTurn(home)) {
        const found = await appendTo(index, payload);
        if (found === 'stored' && index !== home) elsewhere.add();
        if (found === 'stored') return found;
        if (found === 'full') isFull = true;
        else mayComeBack ||= away.mayComeBack(index);
      }
      // Waiting for a stream that never comes back would hold up deliveries, and an election ends.
      return isFull && !mayComeBack ? 'full' : 'unavailable';
    },
  };
}
