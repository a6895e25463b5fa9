import { outcomesSubject, ticketDueSubject } from '../layout/layout.ts';
import { type DurableNeeds, keptOrNot, publishDurably } from '../nats/publish-durably.ts';
import type { QuarantineEntry } from './quarantine.ts';

/**
 * Puts an entry back to where it came from, as a new message. The same entry twice within the stream's duplicate window is
 * one message; the caller removes the entry when the answer is `stored`.
 */
export type Redrive = (entry: QuarantineEntry) => Promise<'stored' | 'full' | 'unavailable'>;

export function openRedrive(needs: DurableNeeds): Redrive {
  return async ({ kind, sequence, at, from, headers, payload }) => {
    const subject = subjectOf(kind, from.subject);
    const id = `quarantine/${sequence}/${at}`;
    return keptOrNot(await publishDurably({ subject, id, headers, payload }, needs));
  };
}

/** The stream that an outcome came from may be gone by now, as a surplus one; a recorder takes it from any. */
function subjectOf(kind: QuarantineEntry['kind'], subject: string): string {
  if (kind === 'outcome') return outcomesSubject(0);
  return kind === 'ticket' ? dueSubject(subject) : subject;
}

/** Put back as a schedule it would take the place of the ticket that the lane has by now, and of its lease. */
function dueSubject(subject: string): string {
  return ticketDueSubject(subject.split('.')[2] ?? '');
}
