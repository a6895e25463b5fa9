/** Why one call is refused. Codes never change; sentences may be reworded. */
export const REFUSALS = {
  type_unknown:
    'The call is not an object with a known type. Set type to identify, track, page, screen, group or alias, in lower case.',
  id_required: 'The call names no user. Send userId, anonymousId or both.',
  id_not_string:
    'An id is neither text nor a number. Send userId, anonymousId, groupId, previousId and messageId as strings.',
  event_not_defined: 'The track call has no event name. Send it as event.',
  event_not_string: 'The event name is not text. Send event as a string.',
  group_id_required: 'The group call names no group. Send groupId.',
  previous_id_required: 'The alias call has no previous id. Send the id to alias from as previousId.',
  user_id_required: 'The alias call has no user id. Send the id to alias to as userId.',
  properties_not_object: 'properties is not an object. Send an object of names and values, or leave it out.',
  traits_not_object: 'traits is not an object. Send an object of names and values, or leave it out.',
  context_not_object: 'context is not an object. Send an object of names and values, or leave it out.',
  integrations_not_object:
    'integrations is not an object. Send an object of destination names with true, false or an object, or leave it out.',
  name_not_string: 'The name of the page or screen is not text. Send name as a string, or leave it out.',
  category_not_string: 'The category of the page or screen is not text. Send category as a string, or leave it out.',
  timestamp_invalid:
    'timestamp, originalTimestamp or sentAt cannot be read. Send ISO 8601, such as 2026-11-15T00:08:46.123Z, or epoch milliseconds.',
  message_id_too_long: 'messageId is longer than 256 characters. Send a shorter one, or leave it out.',
  call_too_large: 'The call is larger than 32,768 bytes. Send less in one call.',
  empty_batch: 'The request holds no calls. Send at least one in the array batch.',
  too_many_calls: 'The request holds more than 2,500 calls. Send them in several requests.',
  too_deep: 'The call is nested deeper than 64 levels. Send flatter data.',
} as const;

/** Why a whole request is turned away before or beside its calls. */
export const REQUEST_PROBLEMS = {
  malformed_json: 'The body is not a JSON object in UTF-8. Send one JSON object.',
  invalid_write_key:
    'The write key is missing or unknown. Send it as the user name of HTTP Basic authentication, or as writeKey in the body.',
  source_disabled: 'The source of this write key is disabled. Enable it in the console to send again.',
  payload_too_large: 'The body is too large. Keep a call to 32,768 bytes and a batch to 512,000 bytes, uncompressed.',
  rate_limited: 'The source sends faster than its limit. Send again after the seconds given in Retry-After.',
  unavailable: 'The calls cannot be stored right now. Send again after the seconds given in Retry-After.',
  oauth_not_supported: 'Bearer tokens are not supported here. Send the write key with HTTP Basic authentication.',
  unsupported_encoding: 'The Content-Encoding is not supported. Send the body as it is, or with gzip.',
} as const;

export type RefusalCode = keyof typeof REFUSALS;

export type RequestProblemCode = keyof typeof REQUEST_PROBLEMS;

export interface Problem {
  code: RefusalCode | RequestProblemCode;
  message: string;
}

/** One call of a request that is refused; index is its place in the batch. */
export interface Refusal {
  index: number;
  messageId?: string;
  code: RefusalCode;
  message: string;
}

const sentences: Record<Problem['code'], string> = { ...REFUSALS, ...REQUEST_PROBLEMS };

export function problemOf(code: Problem['code']): Problem {
  return { code, message: sentences[code] };
}
