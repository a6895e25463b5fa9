import type { Logger } from '../../log.ts';
import type { DeliverySide } from '../../stream/open-delivery-side.ts';

export type StrandedNeeds = {
  lanes: Pick<DeliverySide['lanes'], 'list'>;
  tickets: Pick<DeliverySide['tickets'], 'ensure' | 'list' | 'revive'>;
  now(): number;
  random(): number;
  log: Logger;
};

const EVERY_MS = 600_000;
const FIRST_AFTER_MS = 5_000;

/**
 * Looks every ten minutes for lanes without a ticket, which no process would ever drain, and makes one for each; and for tickets that
 * NATS has not fired. There should be none: this is a safety net, for instance for a TICKETS stream that was emptied by hand.
 */
export function findStranded(needs: StrandedNeeds): Disposable {
  let timer: NodeJS.Timeout;
  const look = async () => {
    await ensureTickets(needs).catch((error: unknown) => needs.log.warn({ error: String(error) }, 'lanes.not_listed'));
    wait(EVERY_MS);
  };
  // With jitter, so that the processes do not look in the same second.
  const wait = (ms: number) => {
    timer = setTimeout(() => void look(), ms * (0.5 + needs.random()));
    timer.unref();
  };
  wait(FIRST_AFTER_MS);
  return { [Symbol.dispose]: () => clearTimeout(timer) };
}

/** Tickets are listed last: one that ends in between ended because its lane was empty. */
export async function ensureTickets({ lanes, tickets, now, log }: Omit<StrandedNeeds, 'random'>): Promise<void> {
  const open = await lanes.list();
  const held = await tickets.list();
  for (const destinationId of open.difference(held)) {
    const ensured = await tickets.ensure(destinationId, { dueAt: now(), hurry: false });
    if (ensured === 'made') log.warn({ destinationId }, 'lane.stranded');
  }
  const revived = await tickets.revive();
  if (revived > 0) log.warn({ tickets: revived }, 'tickets.overdue');
}
