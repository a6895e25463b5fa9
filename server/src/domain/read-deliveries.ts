import { isCallType } from '@millrace/contract';
import { fieldProblem, isFields, readJson, type Stored, unreadable, versionProblem } from './format.ts';
import type { DeadLetter } from './dead-letter.ts';
import type { Delivery } from './delivery.ts';

/** One place of a lane group: a delivery, or what cannot be read as one. */
export type LaneItem = { ok: true; delivery: Delivery } | { ok: false; item: unknown; why: string };

/** The deliveries of a lane group. One of them that cannot be read does not hide the others. */
export function readDeliveries(payload: Uint8Array, version: string): Stored<LaneItem[]> {
  const problem = versionProblem('lane', version);
  if (problem !== undefined) return problem;
  const json = readJson(payload);
  if (!json.ok) return json;
  if (!Array.isArray(json.value)) return unreadable('a lane group that is not a list');
  return { ok: true, value: json.value.map(toItem) };
}

/** Those of them that can be read; none of a group that cannot be. */
export function readableDeliveries(payload: Uint8Array, version: string): Delivery[] {
  const read = readDeliveries(payload, version);
  return read.ok ? read.value.flatMap((item) => (item.ok ? [item.delivery] : [])) : [];
}

export function readLetter(text: string, version: string): Stored<DeadLetter> {
  const problem = versionProblem('letter', version);
  if (problem !== undefined) return problem;
  const json = readJson(text);
  if (!json.ok) return json;
  if (!isFields(json.value)) return unreadable('a dead letter that is not an object');
  const why = fieldProblem(json.value, LETTER) ?? deliveryProblem(json.value['delivery']);
  return why === undefined ? { ok: true, value: json.value as DeadLetter } : unreadable(`a dead letter whose ${why}`);
}

const LETTER = { reason: 'text', at: 'number', destinationId: 'text' } as const;

function toItem(item: unknown): LaneItem {
  const why = deliveryProblem(item);
  return why === undefined
    ? { ok: true, delivery: item as Delivery }
    : { ok: false, item, why: `a delivery whose ${why}` };
}

function deliveryProblem(value: unknown): string | undefined {
  if (!isFields(value)) return 'form is not an object';
  const why = fieldProblem(value, DELIVERY);
  if (why !== undefined) return why;
  if (!(value['history'] as unknown[]).every(isAttemptNote)) return 'history is not a list of attempts';
  const event = value['event'];
  if (!isFields(event)) return 'event is not an object';
  const { type } = event;
  if (!isCallType(type) && type !== 'delete') return 'event has a type that no version knows';
  return fieldProblem(event, EVENT);
}

function isAttemptNote(note: unknown): boolean {
  if (!isFields(note) || fieldProblem(note, { at: 'number', answers: 'list' }) !== undefined) return false;
  return (note['answers'] as unknown[]).every(isFields);
}

const DELIVERY = {
  id: 'text',
  takenAt: 'number',
  attempts: 'number',
  firstAttemptAt: 'number?',
  dueAt: 'number',
  settled: 'object?',
  sourceId: 'text?',
  order: 'text?',
  replayId: 'text?',
  trace: 'text?',
  history: 'list',
} as const;

const EVENT = { messageId: 'text', receivedAt: 'time', userId: 'text?', previousId: 'text?' } as const;
