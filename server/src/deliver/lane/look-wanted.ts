import { whyNotUnderstood } from '../../domain/route-event.ts';
import type { DeliverConfig } from '../../stream/config/config-bucket.ts';
import type { RetrySchedule } from '../attempt/retry-schedule.ts';
import { accepts, type WebhookOf } from '../attempt/webhook.ts';
import type { Dispatcher } from '../dispatch/dispatcher.ts';
import { isShut, isWorking } from '../dispatch/gate.ts';
import type { ParkerNeeds } from '../settle/park.ts';
import { FOR_NEWER_LOOK_MS, PAUSED_LOOK_MS } from './drain-lane.ts';

/** As long as an attempt takes at most. */
const DOUBTED_LOOK_MS = 5_000;

type LookNeeds = {
  config: DeliverConfig;
  webhookOf: WebhookOf;
  dispatcher: Dispatcher;
  schedule: RetrySchedule;
  now(): number;
};

/** A lane whose gate is shut is looked at when it is time for a probe, and a paused one when it is resumed. */
export function lookWanted({ config, webhookOf, dispatcher, schedule, now }: LookNeeds): ParkerNeeds['wanted'] {
  return (destinationId, { dueAt, attempts }) => {
    const destination = config.destination(destinationId);
    if (destination !== undefined && whyNotUnderstood(destination, accepts) !== undefined) {
      return { dueAt: now() + FOR_NEWER_LOOK_MS, hurry: false, isBySettings: true };
    }
    if (destination?.paused === true) return { dueAt: now() + PAUSED_LOOK_MS, hurry: false, isBySettings: true };
    const gate = dispatcher.gateOf(destinationId);
    if (isShut(gate, now())) {
      // A receiver that asked for a second waits no longer for its lane.
      return { dueAt: Math.min(now() + schedule.delayMs(1), gate.shut?.until ?? Infinity), hurry: false };
    }
    // An attempt is under way that tells whether the receiver hangs; a look before its end would find nothing to do.
    if (gate.isDoubted) return { dueAt: now() + DOUBTED_LOOK_MS, hurry: false };
    const turnInMs = destination === undefined ? 0 : dispatcher.turnInMs(webhookOf(destination));
    if (turnInMs > 0) return { dueAt: Math.max(now() + turnInMs, attempts === 0 ? 0 : dueAt), hurry: false };
    return { dueAt: attempts === 0 ? now() : dueAt, hurry: true, isUrgent: isWorking(gate, now()) };
  };
}
