import { nuid } from '@nats-io/nats-core';
import { formatHeader } from '../../domain/format.ts';
import { outcomesSubject } from '../layout/layout.ts';
import { type DurableNeeds, keptOrNot, publishDurably } from '../nats/publish-durably.ts';

export type Outcomes = {
  /** Resolves with the answer of NATS. */
  append(batch: string): Promise<'stored' | 'full' | 'unavailable'>;
};

export function openOutcomes(needs: DurableNeeds): Outcomes {
  return {
    async append(batch) {
      const headers = [formatHeader('outcomes')];
      const publication = { subject: outcomesSubject(0), id: nuid.next(), headers, payload: Buffer.from(batch) };
      return keptOrNot(await publishDurably(publication, needs));
    },
  };
}
