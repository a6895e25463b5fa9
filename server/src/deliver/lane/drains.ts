import { setTimeout as sleep } from 'node:timers/promises';
import type { HeldTicket } from '../../stream/deliveries/tickets.ts';
import { drainLane, type DrainNeeds } from './drain-lane.ts';
import { isWorking } from '../dispatch/gate.ts';
import type { YieldingWindow } from '../dispatch/yielding-window.ts';

/** The lanes this process is looking at. */
export type Drains = {
  drain(ticket: HeldTicket): void;
  /** How many more it can look at, of those whose receiver works and of the others. */
  room(isUrgent: boolean): number;
  count(): number;
  /** A destination may have been resumed or changed for the better: its lane is looked at now. */
  destinationChanged(destinationId: string): void;
};

/**
 * In each of the two lines, so that neither waits for the other. Most of those in the ordinary one wait for a probe; what they
 * attempt is bounded by the slots.
 */
const MAX_DRAINS = 128;

/** While somebody holds the ticket they may have read the old settings: asked again until they are done. */
const ASK_AGAIN_MS = 1_000;
const MAX_ASKS = 30;

export type DrainsNeeds = DrainNeeds & {
  /**
   * How many lanes whose receiver is in trouble may be asked about at a time: when thousands are due at once, nobody else shall
   * notice. While an attempt is under way it is the receiver that is waited for, and nothing is asked of the engine.
   */
  looks: Pick<YieldingWindow, 'room'>;
};

export function openDrains({ looks, ...needs }: DrainsNeeds): Drains {
  const draining = new Set<HeldTicket>();
  const isLookedAt = (id: string) => draining.values().some(({ destinationId }) => destinationId === id);
  const isAsking = ({ destinationId }: HeldTicket) => {
    const gate = needs.dispatcher.gateOf(destinationId);
    return gate.inFlight === 0 && !isWorking(gate, needs.now());
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
      const room = MAX_DRAINS - inLine.length;
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
    // Somebody asked for it and looks on; if the receiver does not work, that is known after one look.
    const wanted = { dueAt: now(), hurry: true, isUrgent: true };
    const ensured = await tickets.ensure(destinationId, wanted);
    if (ensured === 'made' || ensured === 'there') return;
    await sleep(ASK_AGAIN_MS, undefined, { ref: false });
  }
}
