import type { GiveUpReason, SkipReason } from './codes.ts';
import type { Help } from './help.ts';

/** An event that a destination does not get. */
export const SKIP_HELP: Record<SkipReason, Help> = {
  erased: {
    title: 'The user was erased',
    cause: 'A deletion request erased the user before Millrace could send the event.',
    remedy: 'Nothing needs to be done. The deletion request shows what was erased.',
    whoCanDoIt: 'owner',
  },
  suppressed: {
    title: 'The user is suppressed',
    cause: 'A deletion request asked Millrace to drop all later calls of this user.',
    remedy: 'Lift the suppression if the user agreed to it. Events that were dropped do not come back.',
    whoCanDoIt: 'owner',
  },
  destination_disabled: {
    title: 'The destination is disabled',
    cause: 'A disabled destination skips new events and never gets them later.',
    remedy: 'Enable the destination, then replay the events that it missed while they are stored.',
    whoCanDoIt: 'destination',
  },
  integrations_map: {
    title: 'The call itself turns the destination off',
    cause: 'The sender listed in the call which kinds of destinations may get it, and this kind is not among them.',
    remedy: 'Change the list of integrations in the program that sends the calls.',
    whoCanDoIt: 'sender',
  },
  blocked_event: {
    title: 'The event is blocked',
    cause: 'A member blocked events of this name in the schema of the source. No destination gets them.',
    remedy: 'Unblock the name in the source, then replay the events that were skipped.',
    whoCanDoIt: 'destination',
  },
  type_not_accepted: {
    title: 'The destination does not take this type',
    cause: 'This kind of destination takes only some types of calls, and not this one.',
    remedy: 'Send this type to another kind of destination.',
    whoCanDoIt: 'destination',
  },
  filtered: {
    title: 'A filter stopped the event',
    cause: 'One rule in the filters of the destination does not hold for the event. The delivery names the rule.',
    remedy: 'Change the filters if the event should pass, then replay it.',
    whoCanDoIt: 'destination',
  },
};

/** A delivery that ended without success. */
export const GIVE_UP_HELP: Record<GiveUpReason, Help> = {
  discarded: {
    title: 'The receiver refused it for good',
    cause: 'The receiver gave an answer that a second try would not change. Millrace keeps a dead letter for 14 days.',
    remedy: 'Repair the cause that the last attempt shows, then send the dead letter again.',
    whoCanDoIt: 'destination',
  },
  expired: {
    title: 'Four hours of retries are over',
    cause: 'No attempt succeeded within four hours. Millrace keeps a dead letter for 14 days.',
    remedy: 'Repair the receiver, then send the dead letters again.',
    whoCanDoIt: 'receiver',
  },
  lane_full: {
    title: 'Too many deliveries were waiting',
    cause: 'The backlog of the destination used its whole share of the storage. Millrace kept a dead letter instead.',
    remedy: 'Repair the receiver or resume the destination, then send the dead letters again.',
    whoCanDoIt: 'destination',
  },
  destination_deleted: {
    title: 'The destination was deleted',
    cause: 'A member deleted the destination while the delivery waited for it. Millrace keeps no dead letter then.',
    remedy: 'Create the destination again and replay the events, as long as they are stored.',
    whoCanDoIt: 'destination',
  },
  letter_refused: {
    title: 'There was no room for a dead letter',
    cause: 'Dead letters of this destination or workspace used their whole share, so only the record is left.',
    remedy: 'Send dead letters again to make room, then replay this event as long as it is stored.',
    whoCanDoIt: 'destination',
  },
};
