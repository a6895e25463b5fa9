import type { AcceptedEvent, DeleteEvent } from '@millrace/contract';
import type { OutcomeAnswer, OutcomeEntry } from '../../domain/outcome.ts';
import type { Delivery } from '../../domain/delivery.ts';
import type { Attempt } from '../attempt/attempt.ts';
import type { TargetAnswer } from '../attempt/judge.ts';
import type { Webhook } from '../attempt/webhook.ts';
import { eventName } from '../../domain/event-name.ts';

export type EntryOwner = { workspaceId: string; sourceId: string; destinationId: string; deliveryId: string };

export function ownerOf({ id, sourceId }: Delivery, webhook: Webhook): EntryOwner {
  const { workspaceId, destinationId } = webhook;
  return { workspaceId, sourceId: sourceId ?? webhook.sourceId, destinationId, deliveryId: id };
}

/** The fields that every entry of the record has. */
export function entryBase(
  event: AcceptedEvent | DeleteEvent,
  owner: EntryOwner,
  at: number,
): Omit<OutcomeEntry, 'kind'> {
  // Of a deletion the record may say that it happened, not whose.
  if (event.type === 'delete') return namelessBase(event, owner, at);
  const { messageId, type, userId, anonymousId, receivedAt } = event;
  const name = eventName(event);
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

/** For an event of an erased or suppressed user: without the user's name and ids. */
export function namelessBase(
  event: AcceptedEvent | DeleteEvent,
  owner: EntryOwner,
  at: number,
): Omit<OutcomeEntry, 'kind'> {
  const { messageId, type, receivedAt } = event;
  return { ...owner, messageId, type, receivedAt, at };
}

type Facts = Pick<Extract<OutcomeEntry, { kind: 'attempt' }>, 'attempt' | 'outcome' | 'nextAt' | 'letter'>;

/**
 * The entry of an attempt. Every attempt has one, so the fields are written out: spread together from parts they cost as much as
 * the signatures. JSON leaves out the undefined ones.
 */
export function attemptEntry(
  { id, event, sourceId, replayId }: Delivery,
  webhook: Webhook,
  made: Attempt,
  { attempt, outcome, nextAt, letter }: Facts,
): OutcomeEntry {
  const { workspaceId, destinationId } = webhook;
  const { messageId, type, receivedAt } = event;
  // Of a deletion the record may say that it happened, not whose.
  const who = event.type === 'delete' ? NO_USER : event;
  return {
    workspaceId,
    sourceId: sourceId ?? webhook.sourceId,
    destinationId,
    deliveryId: id,
    messageId,
    type,
    name: event.type === 'delete' ? undefined : eventName(event),
    userId: who.userId,
    anonymousId: who.anonymousId,
    receivedAt,
    replayId,
    at: made.startedAt,
    kind: 'attempt',
    attempt,
    outcome,
    nextAt,
    answers: outcomeAnswers(made),
    letter,
  };
}

const NO_USER: { userId?: string; anonymousId?: string } = {};

/** All events of a batch have the same, made once. */
const ofBatches = new WeakMap<Attempt, OutcomeAnswer[]>();

function outcomeAnswers(made: Attempt): OutcomeAnswer[] {
  const { answers, events } = made;
  if (events === undefined) return answers.map((answer) => outcomeAnswer(answer));
  const known = ofBatches.get(made) ?? answers.map((answer) => outcomeAnswer(answer, events));
  ofBatches.set(made, known);
  return known;
}

/**
 * The body of an answer to several events is kept with none of them: the receiver may name the user of one in it, whose erasure finds only
 * the rows of that user.
 */
function outcomeAnswer({ url, answer }: TargetAnswer, events?: number): OutcomeAnswer {
  const { address, timings } = answer;
  if (answer.kind === 'error') {
    return { url, errorClass: answer.errorClass, message: answer.message, address, timings, events };
  }
  const body = events === undefined && answer.body !== '' ? answer.body : undefined;
  return { url, status: answer.status, address, timings, events, body };
}
