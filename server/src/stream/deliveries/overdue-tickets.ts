/**
 * A schedule that comes due while NATS adds replicas to TICKETS does not fire: the leader of NATS 2.15.2 believes that it is on its
 * way, until another server leads or the schedule is written anew. The lane has its ticket all the while and waits for ever.
 */
import type { JetStreamManager } from '@nats-io/jetstream';
import { ticketAtSubject, TICKETS_STREAM } from '../layout/layout.ts';
import { type DurableNeeds, publishDurably } from '../nats/publish-durably.ts';
import { readNext } from '../nats/read-subject.ts';

export type OverdueNeeds = DurableNeeds & { manager: JetStreamManager; now(): number };

/** A NATS that has a million schedules to fire at once needs 14 seconds. */
const OVERDUE_MS = 60_000;
/** Tickets that move are written again, so those that do not are among the oldest. */
const OLDEST = 100;

/** Writes overdue tickets anew, as they are: they fire at once. Resolves with their number. */
export async function reviveOverdue(needs: OverdueNeeds): Promise<number> {
  const { manager, now } = needs;
  const { state } = await manager.streams.info(TICKETS_STREAM);
  let revived = 0;
  let left = OLDEST;
  for (let from = state.first_seq; left > 0; left -= 1) {
    const ticket = await readNext(manager, { stream: TICKETS_STREAM, subject: ticketAtSubject('*'), from });
    if (ticket === undefined || ticket.seq > state.last_seq) break;
    from = ticket.seq + 1;
    const { subject, seq, header, data: payload } = ticket;
    const at = header.get('Nats-Schedule');
    if (!(Date.parse(at.replace('@at ', '')) < now() - OVERDUE_MS)) continue;
    // Where one is, there are more.
    left = OLDEST;
    const headers: [string, string][] = [
      ['Nats-Schedule', at],
      ['Nats-Schedule-Target', header.get('Nats-Schedule-Target')],
      ['Nats-Expected-Last-Subject-Sequence', String(seq)],
    ];
    if ((await publishDurably({ subject, headers, payload }, needs)).kind === 'stored') revived += 1;
  }
  return revived;
}
