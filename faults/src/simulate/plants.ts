/** Bugs that the simulator plants by wrapping the faces of the product, to show that its checks can fail. */
import type { NatsConnection } from '@nats-io/nats-core';
import { ticketAtSubject } from '../../../server/src/stream/layout/layout.ts';
import type { Connect } from '../../../server/src/stream/nats/connect-nats.ts';
import type { HeldTicket } from '../../../server/src/stream/deliveries/tickets.ts';
import type { DeliverySide } from '../../../server/src/stream/open-delivery-side.ts';

export const PLANTS = {
  /** Deliver gathers writes to lanes for a second, and believes that they are stored. */
  'ack-before-park': (side: DeliverySide): DeliverySide => ({
    ...side,
    lanes: {
      ...side.lanes,
      append(...group) {
        setTimeout(() => void side.lanes.append(...group), 1_000);
        return Promise.resolve('stored');
      },
    },
  }),
  /** A holder removes deliveries from the lane when it reads them, before they are done or parked again. */
  'purge-before-append': (side: DeliverySide): DeliverySide => ({
    ...side,
    lanes: {
      ...side.lanes,
      async read(place, from, most) {
        const groups = await side.lanes.read(place, from, most);
        const last = groups.at(-1);
        if (last !== undefined) await side.lanes.drop(place, last.sequence);
        return groups;
      },
    },
  }),
  /** A holder does not renew its lease, and goes on after its end. */
  'ticket-not-renewed': (side: DeliverySide): DeliverySide => ({
    ...side,
    pullTickets: (needs) => side.pullTickets({ ...needs, held: (ticket) => needs.held(neverRenewed(ticket)) }),
  }),
} as const;

export type Plant = keyof typeof PLANTS;

export function plantIn(side: DeliverySide, plant: Plant | undefined): DeliverySide {
  return plant === undefined ? side : PLANTS[plant](side);
}

/** Swallows the renewals of leases, if that is planted: each replaces a ticket by a held one. */
export function connectWith(connect: Connect, plant: Plant | undefined): Connect {
  if (plant !== 'ticket-not-renewed') return connect;
  return async (name) => {
    const connection = await connect(name);
    const publish: NatsConnection['publish'] = (subject, payload, options) => {
      const isRenewal =
        subject.startsWith(ticketAtSubject('')) &&
        Buffer.from(payload ?? '').includes('"held":true') &&
        options?.headers?.get('Nats-Expected-Last-Subject-Sequence') !== '0';
      if (!isRenewal) connection.nc.publish(subject, payload, options);
    };
    return { ...connection, nc: { ...connection.nc, publish } };
  };
}

/** The holder believes in its lease for ever. */
function neverRenewed(ticket: HeldTicket): HeldTicket {
  return { ...ticket, isLost: () => false };
}
