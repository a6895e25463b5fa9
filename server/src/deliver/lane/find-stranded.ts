import type { Logger } from '../../log.ts';
import type { DeliverySide } from '../../stream/open-delivery-side.ts';
import { every } from '../../pause.ts';

export type StrandedNeeds = {
  lanes: Pick<DeliverySide['lanes'], 'list'>;
  tickets: Pick<DeliverySide['tickets'], 'ensure' | 'list' | 'revive'>;
  now(): number;
  log: Logger;
};
/** `isMyTurn` is true in one process at a time, as a rule: two that look make no ticket twice. */
export type StrandedTurns = StrandedNeeds & { isMyTurn(): boolean; uptimeMs(): number };

const EVERY_MS = 600_000;
/** The same for a process that does not have the turn. */
const SPARE_EVERY_MS = 3_600_000;
/** After a look that failed, as one does while streams have no leader. */
const AGAIN_MS = 30_000;
/** How often a process asks for its turn; by the first time it has heard of the others. */
const TURN_MS = 5_000;

/**
 * Looks every ten minutes for lanes without a ticket, which no process would ever drain, and makes one for each; and for tickets that
 * NATS has not fired. There should be none: this is a safety net, for instance for a TICKETS stream that was emptied by hand. One
 * process looks for all; the next one to have the turn looks at once. The others look every hour: a heartbeat can be forged, and the
 * process that has the turn may not reach the streams.
 */
export function findStranded({ isMyTurn, uptimeMs, ...needs }: StrandedTurns): Disposable {
  let lookAt = 0;
  let spareLookAt = uptimeMs() + SPARE_EVERY_MS;
  return every(TURN_MS, () => {
    if (!isMyTurn()) lookAt = 0;
    if (uptimeMs() < (isMyTurn() ? lookAt : spareLookAt)) return;
    lookAt = uptimeMs() + EVERY_MS;
    spareLookAt = uptimeMs() + SPARE_EVERY_MS;
    ensureTickets(needs).catch((error: unknown) => {
      lookAt = uptimeMs() + AGAIN_MS;
      spareLookAt = lookAt;
      needs.log.warn({ error: String(error) }, 'lanes.not_listed');
    });
  });
}

/** Tickets are listed last: one that ends in between ended because its lane was empty. */
export async function ensureTickets({ lanes, tickets, now, log }: StrandedNeeds): Promise<void> {
  const open = await lanes.list();
  const held = await tickets.list();
  for (const destinationId of open.difference(held)) {
    const ensured = await tickets.ensure(destinationId, { dueAt: now(), hurry: false });
    if (ensured === 'made') log.warn({ destinationId }, 'lane.stranded');
  }
  const revived = await tickets.revive();
  if (revived > 0) log.warn({ tickets: revived }, 'tickets.overdue');
}
