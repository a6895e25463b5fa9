import type { HeldTicket } from '../../../server/src/stream/deliveries/tickets.ts';
import type { DeliverySide } from '../../../server/src/stream/open-delivery-side.ts';
import { running, type VirtualProcess } from './clock/virtual-clock.ts';

type Holding = { process: VirtualProcess; ticket: HeldTicket; isReleased: boolean };

export type LeaseWatch = {
  /** The same side; the watch sees each ticket that it takes and gives back. */
  watch(side: DeliverySide, process: VirtualProcess): DeliverySide;
};

/** Clocks of servers and processes differ by less. */
const GRACE_MS = 1_500;

/** No lane has two holders: of two tickets for one lane, one is given back, lost, or in a dead process. */
// oxlint-disable-next-line max-lines-per-function -- a factory: its parts share its state
export function watchLeases(blame: (about: string) => void): LeaseWatch {
  const holdings = new Map<string, Set<Holding>>();

  function isHolding({ process, ticket, isReleased }: Holding): boolean {
    if (isReleased || process.state === 'dead') return false;
    // A paused process does nothing; when it goes on, its clock tells it that the lease is over.
    return process.state === 'up' && !running.run(process, () => ticket.isLost());
  }

  function look(destinationId: string): void {
    const all = holdings.get(destinationId) ?? new Set();
    for (const each of all) if (each.isReleased || each.process.state === 'dead') all.delete(each);
    const holders = [...all].filter(isHolding).map(({ process }) => process.name);
    if (holders.length > 1) blame(`the lane of ${destinationId} has ${holders.length} holders: ${holders.join(', ')}`);
    else if (all.size > 1) lookLater(destinationId);
  }

  /** The former holder may be about to let go, or paused. */
  function lookLater(destinationId: string): void {
    const [up] = [...(holdings.get(destinationId) ?? [])].filter(({ process }) => process.state === 'up');
    if (up !== undefined) up.process.clock.after(GRACE_MS, up.process, () => look(destinationId));
  }

  function held(ticket: HeldTicket, process: VirtualProcess): HeldTicket {
    const { destinationId } = ticket;
    const holding = { process, ticket, isReleased: false };
    const all = holdings.get(destinationId) ?? new Set();
    holdings.set(destinationId, all.add(holding));
    if (all.size > 1) lookLater(destinationId);
    const letGo = () => {
      holding.isReleased = true;
    };
    return {
      ...ticket,
      giveBack(back) {
        letGo();
        return ticket.giveBack(back);
      },
      end() {
        letGo();
        return ticket.end();
      },
    };
  }

  return {
    watch: (side, process) => ({
      ...side,
      pullTickets: (needs) => side.pullTickets({ ...needs, held: (ticket) => needs.held(held(ticket, process)) }),
    }),
  };
}
