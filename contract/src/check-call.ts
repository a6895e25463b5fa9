import { type CallType, isCallType, isObject, type RequestShape, type UntrustedObject } from './call.ts';
import { isDeeperThan } from './depth.ts';
import { hasId, isIdReadable, isMessageIdTooLong } from './ids.ts';
import { MAX_CALL_BYTES, MAX_DEPTH } from './limits.ts';
import type { RefusalCode } from './refusals.ts';
import { parseTimestamp } from './timestamps.ts';

/**
 * Why this call is refused, or undefined. Runs for every call that comes in, so it makes nothing: no copies, no lists.
 * The order is part of the contract: a call with two faults gets the same code from every client and from the service.
 */
export function checkCall(call: unknown, shape: RequestShape, isMeasured: boolean): RefusalCode | undefined {
  if (!isObject(call)) return 'type_unknown';
  if (isDeeperThan(call, MAX_DEPTH)) return 'too_deep';
  if (isMeasured && jsonBytes(call) > MAX_CALL_BYTES) return 'call_too_large';
  const type = shape === 'batch' ? call.type : shape;
  if (!isCallType(type)) return 'type_unknown';
  return checkIds(call, type) ?? checkFields(call, type) ?? checkTimes(call);
}

/** The size as receivers get the call, not as the client happened to write it (spaces, escapes). */
export function jsonBytes(value: object): number {
  return Buffer.byteLength(JSON.stringify(value));
}

/** Null is absent, and an array is not an object. */
export function isObjectOrAbsent(value: unknown): boolean {
  return value === undefined || value === null || isObject(value);
}

export function isTimestampOrAbsent(value: unknown): boolean {
  return value === undefined || value === null || parseTimestamp(value) !== undefined;
}

function checkIds(call: UntrustedObject, type: CallType): RefusalCode | undefined {
  const { userId, anonymousId, groupId, previousId, messageId } = call;
  if (!isIdReadable(userId) || !isIdReadable(anonymousId) || !isIdReadable(messageId)) return 'id_not_string';
  if (!isIdReadable(groupId) || !isIdReadable(previousId)) return 'id_not_string';
  if (isMessageIdTooLong(messageId)) return 'message_id_too_long';
  if (type === 'alias') {
    if (!hasId(userId)) return 'user_id_required';
    return hasId(previousId) ? undefined : 'previous_id_required';
  }
  if (!hasId(userId) && !hasId(anonymousId)) return 'id_required';
  return type === 'group' && !hasId(groupId) ? 'group_id_required' : undefined;
}

function checkFields(call: UntrustedObject, type: CallType): RefusalCode | undefined {
  if (type === 'track') {
    const { event } = call;
    if (event === undefined || event === null || event === '') return 'event_not_defined';
    if (typeof event !== 'string') return 'event_not_string';
  }
  if (!isObjectOrAbsent(call.properties)) return 'properties_not_object';
  if (!isObjectOrAbsent(call.traits)) return 'traits_not_object';
  const { context } = call;
  if (!isObjectOrAbsent(context)) return 'context_not_object';
  if (!isObjectOrAbsent(call.integrations)) return 'integrations_not_object';
  if (isObject(context) && !isObjectOrAbsent(context.integrations)) return 'integrations_not_object';
  if (type !== 'page' && type !== 'screen') return undefined;
  if (!isTextOrAbsent(call.name)) return 'name_not_string';
  return isTextOrAbsent(call.category) ? undefined : 'category_not_string';
}

function checkTimes(call: UntrustedObject): RefusalCode | undefined {
  const areReadable =
    isTimestampOrAbsent(call.timestamp) &&
    isTimestampOrAbsent(call.originalTimestamp) &&
    isTimestampOrAbsent(call.sentAt);
  return areReadable ? undefined : 'timestamp_invalid';
}

function isTextOrAbsent(value: unknown): boolean {
  return value === undefined || value === null || typeof value === 'string';
}
