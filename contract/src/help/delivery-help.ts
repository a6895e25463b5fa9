import type { ProblemCode } from './codes.ts';
import type { Help } from './help.ts';

type DeliveryCode = Extract<ProblemCode, 'not_waiting' | 'event_gone'>;

/** A request about one delivery came too late for what Millrace still has of it. */
export const DELIVERY_HELP: Record<DeliveryCode, Help> = {
  not_waiting: {
    title: 'This delivery does not wait',
    cause: 'Millrace has delivered it, has given it up, or is making an attempt right now.',
    remedy: 'Look at its state. A dead letter can be sent again from the list of dead letters.',
    whoCanDoIt: 'you',
  },
  event_gone: {
    title: 'The event is no longer stored',
    cause: 'Events are kept for a limited time, and the events of an erased user are removed at once.',
    remedy: 'Look at a newer delivery, or keep events for longer in the settings of Millrace.',
    whoCanDoIt: 'operator',
  },
};
