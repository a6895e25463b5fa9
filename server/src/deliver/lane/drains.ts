/**
 * The lanes that this process drains. NATS hands over a due ticket (`drain`), the lane is then being looked at, and it leaves the
 * set when its ticket was given back or ended. Urgent tickets have their own consumer and their own room.
 */
import { setTimeout as sleep } from 'node:timers/promises';
import type { HeldTicket } from '../../stream/deliveries/tickets.ts';
import { drainLane, type DrainNeeds } from './drain-lane.ts';
import { isWorking } from '../dispatch/gate.ts';
import type { YieldingWindow } from '../dispatch/yielding-window.ts';

export type Drains = {
  drain(ticket: HeldTicket): void;
  /** How many more tickets it can take, of the urgent ones or of the others. */
  room(isUrgent: boolean): number;
  count(): number;
  /** A destination may have been resumed or changed for the better: its lane is looked at now. */
  destinationChanged(destinationId: string): void;
};

/**
 * For urgent tickets, and again for the others, so that neither wait for the other. Most lanes of the others wait for a probe; the
 * slots limit their attempts.
 */
const MAX_DRAINS = 128;
/** Lanes beside them that wait for their turn at a host. */
const MAX_AT_HOSTS = 384;

/** While the ticket is held, its holder may have read the old settings: asked again until the ticket is free. */
const ASK_AGAIN_MS = 1_000;
const MAX_ASKS = 30;

export type DrainsNeeds = DrainNeeds & {
  /**
   * How many lanes of failing receivers may be looked at a time: when thousands are due at once, new events must not be delayed.
   * A lane with an attempt under way does not count: it waits for its receiver, and asks nothing of NATS.
   */
  looks: Pick<YieldingWindow, 'room'>;
};

export function openDrains({ looks, ...needs }: DrainsNeeds): Drains {
  const draining = new Set<HeldTicket>();
  const isLookedAt = (id: string) => draining.values().some(({ destinationId }) => destinationId === id);
  const isAsking = ({ destinationId }: HeldTicket) => {
    const gate = needs.dispatcher.gateOf(destinationId);
    const isIdle = gate.inFlight === 0 && !needs.dispatcher.waitsForHost(destinationId);
    return isIdle && !isWorking(gate, needs.now());
  };
  return {
    drain(ticket) {
      draining.add(ticket);
      void drainLane(ticket, needs).finally(() => draining.delete(ticket));
    },
    room(isUrgent) {
      const inLine = draining
        .values()
        .filter((ticket) => ticket.isUrgent === isUrgent)
        .toArray();
      // Lanes of one busy host would fill the room of all others, and they ask nothing of NATS while they wait for their turn.
      const atHosts = inLine.filter(({ destinationId }) => needs.dispatcher.waitsForHost(destinationId)).length;
      const room = MAX_DRAINS - inLine.length + Math.min(atHosts, MAX_AT_HOSTS);
      return isUrgent ? room : Math.min(room, looks.room(inLine.filter(isAsking).length));
    },
    count: () => draining.size,
    destinationChanged(destinationId) {
      if (needs.reports.isKnown(destinationId) || isLookedAt(destinationId)) void hurry(destinationId, needs);
    },
  };
}

async function hurry(destinationId: string, { tickets, now, isStopping }: DrainNeeds): Promise<void> {
  for (let asks = 0; asks < MAX_ASKS && !isStopping(); asks += 1) {
    // Urgent, because a person changed it and waits for the effect; if the receiver fails, one look shows that.
    const wanted = { dueAt: now(), hurry: true, isUrgent: true };
    const ensured = await tickets.ensure(destinationId, wanted);
    if (ensured === 'made' || ensured === 'there') return;
    await sleep(ASK_AGAIN_MS, undefined, { ref: false });
  }
}
