import { formatHeader } from '../../domain/format.ts';
import { deadSubject } from '../layout/layout.ts';
import { type DurableNeeds, keptOrNot, publishDurably } from '../nats/publish-durably.ts';

export type DeadLetters = {
  /** Resolves with the answer of NATS. The same id again within two minutes is the same letter. */
  append(destinationId: string, id: string, payload: string): Promise<'stored' | 'full' | 'unavailable'>;
};

export function openDeadLetters(needs: DurableNeeds): DeadLetters {
  return {
    async append(destinationId, id, payload) {
      const headers = [formatHeader('letter')];
      const publication = { subject: deadSubject(destinationId), id, headers, payload: Buffer.from(payload) };
      return keptOrNot(await publishDurably(publication, needs));
    },
  };
}
