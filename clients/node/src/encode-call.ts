import { type CallType, isObject, type UntrustedObject } from '../../../contract/src/call.ts';
import { checkCall } from '../../../contract/src/check-call.ts';
import { readId } from '../../../contract/src/ids.ts';
import { MAX_CALL_BYTES } from '../../../contract/src/limits.ts';
import { REFUSALS, type RefusalCode } from '../../../contract/src/refusals.ts';
import { parseTimestamp } from '../../../contract/src/timestamps.ts';
import { InvalidCallError } from './errors.ts';
import { utf8Bytes } from './utf8-bytes.ts';

export type EncodeNeeds = {
  nowMs(): number;
  isoTime(epochMs: number): string;
  makeId(): string;
  /** The JSON text of `context.library`. */
  libraryText: string;
};

export type EncodedCall = { text: string; bytes: number };

/** The bytes of one call as they go on the wire, made once, when it is queued. Throws what the service would refuse. */
export function encodeCall(type: CallType, given: unknown, needs: EncodeNeeds): EncodedCall {
  const call = readable(given);
  const code = checkCall(call, type, false);
  if (!isObject(call) || code === 'too_deep') throw refusal(code ?? 'type_unknown');
  const text = textOf(type, call, needs);
  const bytes = utf8Bytes(text);
  // The size comes before the other faults: a call with two gets the same code from every client and from the service.
  if (bytes > MAX_CALL_BYTES) throw refusal('call_too_large');
  if (code !== undefined) throw refusal(code);
  return { text, bytes };
}

function refusal(code: RefusalCode): InvalidCallError {
  return new InvalidCallError(code, REFUSALS[code]);
}

/** A Date is how callers write a moment; everywhere else the contract reads what JSON can hold. */
function readable(call: unknown): unknown {
  if (!isObject(call) || !(call.timestamp instanceof Date)) return call;
  return { ...call, timestamp: call.timestamp.getTime() };
}

/** Joined by hand: one object with every field would cost twice as much to build as to write. */
function textOf(type: CallType, call: UntrustedObject, needs: EncodeNeeds): string {
  const at = needs.isoTime(parseTimestamp(call.timestamp) ?? needs.nowMs());
  return (
    `{"type":"${type}","messageId":${json(readId(call.messageId) ?? needs.makeId())},"timestamp":"${at}"` +
    id('"userId"', call.userId) +
    id('"anonymousId"', call.anonymousId) +
    id('"groupId"', call.groupId) +
    id('"previousId"', call.previousId) +
    field('"event"', call.event) +
    field('"name"', call.name) +
    field('"category"', call.category) +
    field('"properties"', call.properties) +
    field('"traits"', call.traits) +
    `,"context":${contextText(call.context, needs.libraryText)}` +
    `${field('"integrations"', call.integrations)}}`
  );
}

function id(name: string, value: unknown): string {
  const text = readId(value);
  return text === undefined ? '' : `,${name}:${json(text)}`;
}

function field(name: string, value: unknown): string {
  if (value === undefined || value === null) return '';
  const text = json(value);
  return text === undefined ? '' : `,${name}:${text}`;
}

/** The library comes last, so that the caller's own keys stay as they are. */
function contextText(context: unknown, libraryText: string): string {
  if (context === undefined || context === null) return `{"library":${libraryText}}`;
  const text = json(context);
  if (!isObject(context) || context.library !== undefined || text?.endsWith('}') !== true) return text ?? 'null';
  return text === '{}' ? `{"library":${libraryText}}` : `${text.slice(0, -1)},"library":${libraryText}}`;
}

function json(value: unknown): string | undefined {
  try {
    return JSON.stringify(value);
  } catch (error) {
    throw new InvalidCallError('not_json', `The call cannot be written as JSON: ${String(error)}`);
  }
}
