import { setTimeout as sleep } from 'node:timers/promises';
import type { HeldTicket } from '../stream/tickets.ts';
import { drainLane, type DrainNeeds } from './drain-lane.ts';

/** The lanes this process is looking at. */
export type Drains = {
  drain(ticket: HeldTicket): void;
  /** How many more it can look at. */
  room(): number;
  count(): number;
  /** A destination may have been resumed or changed for the better: its lane is looked at now. */
  destinationChanged(destinationId: string): void;
};

/** Most of them wait for a probe; what they attempt is bounded by the slots. */
const MAX_DRAINS = 256;
/**
 * A look at the lane of a receiver that hangs takes as long as its attempt. When there are thousands of them, those whose
 * receiver works must not stand in line behind them all.
 */
const MAX_SUSPECTS = MAX_DRAINS / 2;
/** The step of the retry schedule after which a lane is looked at that could not be. */
const PUT_OFF_STEP = 3;

/** While somebody holds the ticket they may have read the old settings: asked again until they are done. */
const ASK_AGAIN_MS = 1_000;
const MAX_ASKS = 30;

export function openDrains(needs: DrainNeeds): Drains {
  const draining = new Set<HeldTicket>();
  const isLookedAt = (id: string) => draining.values().some(({ destinationId }) => destinationId === id);
  const suspects = new Set<HeldTicket>();
  return {
    drain(ticket) {
      const isSuspect = !needs.dispatcher.gateOf(ticket.destinationId).isProven;
      const isTooMany = isSuspect && suspects.size >= MAX_SUSPECTS;
      draining.add(ticket);
      if (isSuspect && !isTooMany) suspects.add(ticket);
      void (isTooMany ? putOff(ticket, needs) : drainLane(ticket, needs)).finally(() => {
        draining.delete(ticket);
        suspects.delete(ticket);
      });
    },
    room: () => MAX_DRAINS - draining.size,
    count: () => draining.size,
    destinationChanged(destinationId) {
      if (needs.reports.isKnown(destinationId) || isLookedAt(destinationId)) void hurry(destinationId, needs);
    },
  };
}

async function hurry(destinationId: string, { tickets, now, isStopping }: DrainNeeds): Promise<void> {
  for (let asks = 0; asks < MAX_ASKS && !isStopping(); asks += 1) {
    const ensured = await tickets.ensure(destinationId, { dueAt: now(), hurry: true }).catch(() => 'unavailable');
    if (ensured === 'made' || ensured === 'there') return;
    await sleep(ASK_AGAIN_MS, undefined, { ref: false });
  }
}

async function putOff(ticket: HeldTicket, { schedule, now, random }: DrainNeeds): Promise<void> {
  await ticket.giveBack(now() + schedule.delayMs(PUT_OFF_STEP) * (0.5 + random()), ticket.note);
}
