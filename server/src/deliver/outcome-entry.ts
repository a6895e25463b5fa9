import type { AcceptedEvent, DeleteEvent } from '@millrace/contract';
import type { OutcomeAnswer, OutcomeEntry } from '../stream/outcomes.ts';
import type { TargetAnswer } from './judge.ts';

export type EntryOwner = { workspaceId: string; sourceId: string; destinationId: string; deliveryId: string };

/** Whom an entry of the record is about. */
export function entryBase(
  event: AcceptedEvent | DeleteEvent,
  owner: EntryOwner,
  at: number,
): Omit<OutcomeEntry, 'kind'> {
  // Of a deletion the record may say that it happened, not whose.
  if (event.type === 'delete') return namelessBase(event, owner, at);
  const { messageId, type, userId, anonymousId, receivedAt } = event;
  const name = nameOf(event);
  return {
    ...owner,
    messageId,
    type,
    ...(name === undefined ? {} : { name }),
    ...(userId === undefined ? {} : { userId }),
    ...(anonymousId === undefined ? {} : { anonymousId }),
    receivedAt,
    at,
  };
}

/** For an event of an erased or suppressed user: nothing that says who it was. */
export function namelessBase(
  event: AcceptedEvent | DeleteEvent,
  owner: EntryOwner,
  at: number,
): Omit<OutcomeEntry, 'kind'> {
  const { messageId, type, receivedAt } = event;
  return { ...owner, messageId, type, receivedAt, at };
}

function nameOf(event: AcceptedEvent): string | undefined {
  if (event.type === 'track') return event.event;
  return event.type === 'page' || event.type === 'screen' ? event.name : undefined;
}

export function outcomeAnswer({ url, answer }: TargetAnswer): OutcomeAnswer {
  const { timings } = answer;
  const address = answer.address === undefined ? {} : { address: answer.address };
  if (answer.kind === 'error')
    return { url, errorClass: answer.errorClass, message: answer.message, ...address, timings };
  return { url, status: answer.status, ...address, timings, ...(answer.body === '' ? {} : { body: answer.body }) };
}
