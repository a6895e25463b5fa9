import { isObject, type RequestShape, type UntrustedObject } from './call.ts';
import { checkCall, isObjectOrAbsent, isTimestampOrAbsent, jsonBytes } from './check-call.ts';
import { isDeeperThan } from './depth.ts';
import { isMessageIdTooLong, readId } from './ids.ts';
import { MAX_CALL_BYTES, MAX_CALLS, MAX_DEPTH, MAX_SHARED_BYTES } from './limits.ts';
import { type Problem, problemOf, REFUSALS, type Refusal, type RefusalCode } from './refusals.ts';

export type RequestCheck = RequestTaken | RequestRefused;

export interface RequestTaken {
  ok: true;
  accepted: number;
  refused: Refusal[];
  /** The ids that identify a request which is sent again; undefined when the client gave too few. */
  messageIds: string[] | undefined;
  /** Some accepted call asks for the address it was sent from. */
  wantsAddress: boolean;
}

export interface RequestRefused {
  ok: false;
  problem: Problem;
  refused: Refusal[];
}

/** Decides on a parsed body without changing or copying it; `acceptRequest` later makes the events. */
export function checkRequest(body: unknown, shape: RequestShape, bodyBytes: number): RequestCheck {
  if (!isObject(body)) return refuse('malformed_json');
  const isMeasured = bodyBytes > MAX_CALL_BYTES;
  if (shape !== 'batch') {
    const code = checkCall(body, shape, isMeasured);
    return code === undefined ? takeSingle(body) : refuse(code);
  }
  const { batch } = body;
  if (!Array.isArray(batch) || batch.length === 0) return refuse('empty_batch');
  if (batch.length > MAX_CALLS) return refuse('too_many_calls');
  const code = checkShared(body, batch.length);
  return code === undefined ? checkCalls(batch, body, isMeasured) : refuse(code);
}

function refuse(code: Problem['code']): RequestRefused {
  return { ok: false, problem: problemOf(code), refused: [] };
}

function takeSingle(call: UntrustedObject): RequestTaken {
  const messageId = readDedupId(call.messageId);
  const messageIds = messageId === undefined ? undefined : [messageId];
  return { ok: true, accepted: 1, refused: [], messageIds, wantsAddress: isDirect(call, false) };
}

/**
 * The shared fields of a batch become part of each event, so they keep to the limits of a call: otherwise
 * one request could grow into thousands of events of its own size.
 */
function checkShared(batch: UntrustedObject, calls: number): RefusalCode | undefined {
  const { context, integrations, sentAt } = batch;
  if (!isObjectOrAbsent(context)) return 'context_not_object';
  if (!isObjectOrAbsent(integrations)) return 'integrations_not_object';
  if (isObject(context) && !isObjectOrAbsent(context.integrations)) return 'integrations_not_object';
  if (!isTimestampOrAbsent(sentAt)) return 'timestamp_invalid';
  const contextBytes = isObject(context) ? sharedBytes(context) : 0;
  const integrationsBytes = isObject(integrations) ? sharedBytes(integrations) : 0;
  if (contextBytes === undefined || integrationsBytes === undefined) return 'too_deep';
  const bytes = contextBytes + integrationsBytes;
  return bytes > MAX_CALL_BYTES || bytes * calls > MAX_SHARED_BYTES ? 'call_too_large' : undefined;
}

/** Undefined when it is too deep to become a field of a call. */
function sharedBytes(value: UntrustedObject): number | undefined {
  return isDeeperThan(value, MAX_DEPTH - 1) ? undefined : jsonBytes(value);
}

function checkCalls(calls: readonly unknown[], batch: UntrustedObject, isMeasured: boolean): RequestCheck {
  const refused: Refusal[] = [];
  const messageIds: string[] = [];
  const isBatchDirect = isDirect(batch, false);
  let wantsAddress = false;
  for (let index = 0; index < calls.length; index++) {
    const call = calls[index];
    const code = checkCall(call, 'batch', isMeasured);
    if (code !== undefined) {
      refused.push(refusalOf(call, index, code));
    } else if (isObject(call)) {
      const messageId = readDedupId(call.messageId);
      if (messageId !== undefined) messageIds.push(messageId);
      wantsAddress ||= isDirect(call, isBatchDirect);
    }
  }
  const accepted = calls.length - refused.length;
  const [first] = refused;
  if (accepted === 0 && first) return { ok: false, problem: { code: first.code, message: first.message }, refused };
  const ids = messageIds.length === accepted ? messageIds : batchId(batch);
  return { ok: true, accepted, refused, messageIds: ids, wantsAddress };
}

function refusalOf(call: unknown, index: number, code: RefusalCode): Refusal {
  const message = REFUSALS[code];
  const sentId = isObject(call) ? call.messageId : undefined;
  const messageId = isMessageIdTooLong(sentId) ? undefined : readId(sentId);
  return messageId === undefined ? { index, code, message } : { index, messageId, code, message };
}

/** A number too large to be exact is the id of several calls at once: it must not make one of them a duplicate. */
function readDedupId(messageId: unknown): string | undefined {
  return typeof messageId === 'number' && !Number.isSafeInteger(messageId) ? undefined : readId(messageId);
}

/** Some libraries name the batch instead of its calls. No call has an empty id, so that one tells the two apart. */
function batchId(batch: UntrustedObject): string[] | undefined {
  const { messageId } = batch;
  return typeof messageId === 'string' && messageId !== '' ? ['', messageId] : undefined;
}

/** The call's own word counts before the batch's. */
function isDirect(call: UntrustedObject, isBatchDirect: boolean): boolean {
  const { context } = call;
  if (!isObject(context) || context.direct === undefined) return isBatchDirect;
  return context.direct === true;
}
