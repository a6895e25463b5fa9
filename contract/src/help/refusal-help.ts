import type { RefusalCode, RequestProblemCode } from '../refusals.ts';
import type { Help } from './help.ts';

/** Collect refused one call. */
export const REFUSAL_HELP: Record<RefusalCode, Help> = {
  type_unknown: {
    title: 'The type of the call is unknown',
    cause: 'The call is no object, or its type is none of identify, track, page, screen, group and alias.',
    remedy: 'Send one of these six types, in lower case.',
    whoCanDoIt: 'sender',
  },
  id_required: {
    title: 'The call names no user',
    cause: 'The call has neither a user id nor an anonymous id.',
    remedy: 'Send at least one of the two with each call.',
    whoCanDoIt: 'sender',
  },
  id_not_string: {
    title: 'An id is not text',
    cause: 'An id in the call is neither text nor a number.',
    remedy: 'Send every id as text.',
    whoCanDoIt: 'sender',
  },
  event_not_defined: {
    title: 'The track call has no event name',
    cause: 'A track call says what happened, and the name of the event is missing.',
    remedy: 'Send the name of the event with the call.',
    whoCanDoIt: 'sender',
  },
  event_not_string: {
    title: 'The event name is not text',
    cause: 'The name of the event is a number, a list or an object.',
    remedy: 'Send the name of the event as text.',
    whoCanDoIt: 'sender',
  },
  group_id_required: {
    title: 'The group call names no group',
    cause: 'A group call connects a user with a group, and the id of the group is missing.',
    remedy: 'Send the id of the group with the call.',
    whoCanDoIt: 'sender',
  },
  previous_id_required: {
    title: 'The alias call has no previous id',
    cause: 'An alias call connects two ids of one user, and the older one is missing.',
    remedy: 'Send the id that the user had before.',
    whoCanDoIt: 'sender',
  },
  user_id_required: {
    title: 'The alias call has no user id',
    cause: 'An alias call connects two ids of one user, and the newer one is missing.',
    remedy: 'Send the id that the user has now.',
    whoCanDoIt: 'sender',
  },
  properties_not_object: {
    title: 'The properties are not an object',
    cause: 'The properties of the call are text, a number or a list.',
    remedy: 'Send the properties as names with values, or leave them out.',
    whoCanDoIt: 'sender',
  },
  traits_not_object: {
    title: 'The traits are not an object',
    cause: 'The traits of the call are text, a number or a list.',
    remedy: 'Send the traits as names with values, or leave them out.',
    whoCanDoIt: 'sender',
  },
  context_not_object: {
    title: 'The context is not an object',
    cause: 'The context of the call is text, a number or a list.',
    remedy: 'Send the context as names with values, or leave it out.',
    whoCanDoIt: 'sender',
  },
  integrations_not_object: {
    title: 'The integrations are not an object',
    cause: 'The integrations of the call are text, a number or a list.',
    remedy: 'Send the names of destinations with true, false or an object, or leave them out.',
    whoCanDoIt: 'sender',
  },
  name_not_string: {
    title: 'The name of the page is not text',
    cause: 'The name of the page or screen is a number, a list or an object.',
    remedy: 'Send the name as text, or leave it out.',
    whoCanDoIt: 'sender',
  },
  category_not_string: {
    title: 'The category of the page is not text',
    cause: 'The category of the page or screen is a number, a list or an object.',
    remedy: 'Send the category as text, or leave it out.',
    whoCanDoIt: 'sender',
  },
  timestamp_invalid: {
    title: 'A time cannot be read',
    cause: 'A time in the call has a form that Millrace does not know, often that of one country or one release.',
    remedy: 'Send times as ISO 8601 or as milliseconds since 1970.',
    whoCanDoIt: 'sender',
  },
  message_id_too_long: {
    title: 'The message id is too long',
    cause: 'The message id has more than 256 characters.',
    remedy: 'Send a shorter message id, or leave it out.',
    whoCanDoIt: 'sender',
  },
  call_too_large: {
    title: 'The call is too large',
    cause: 'The call has more than 32,768 bytes.',
    remedy: 'Send less in one call: a link to large data instead of the data.',
    whoCanDoIt: 'sender',
  },
  empty_batch: {
    title: 'The batch is empty',
    cause: 'The request holds no calls.',
    remedy: 'Send at least one call in a batch.',
    whoCanDoIt: 'sender',
  },
  too_many_calls: {
    title: 'The batch holds too many calls',
    cause: 'The request holds more than 2,500 calls.',
    remedy: 'Send the calls in several requests.',
    whoCanDoIt: 'sender',
  },
  too_deep: {
    title: 'The call is nested too deeply',
    cause: 'The call has objects or lists inside each other, more than 64 levels deep.',
    remedy: 'Send flatter data.',
    whoCanDoIt: 'sender',
  },
};

/** Collect turned a whole request away. */
export const REQUEST_HELP: Record<RequestProblemCode, Help> = {
  malformed_json: {
    title: 'The request is not JSON',
    cause: 'The body is not one JSON object in UTF-8, or its compression is broken.',
    remedy: 'Send one JSON object as the body.',
    whoCanDoIt: 'sender',
  },
  invalid_write_key: {
    title: 'The write key is not valid',
    cause: 'The request has no write key, an unknown one or a revoked one.',
    remedy: 'Copy a write key of the source into the program that sends the calls.',
    whoCanDoIt: 'sender',
  },
  source_disabled: {
    title: 'The source is disabled',
    cause: 'A member disabled the source, so collect refuses its calls.',
    remedy: 'Enable the source to accept calls again.',
    whoCanDoIt: 'destination',
  },
  payload_too_large: {
    title: 'The request is too large',
    cause: 'The body is over 512,000 bytes for a batch, or over 32,768 bytes for a single call.',
    remedy: 'Send smaller batches.',
    whoCanDoIt: 'sender',
  },
  rate_limited: {
    title: 'The source sends too fast',
    cause: 'The source is over its limit of calls a second, or its address had too many requests refused.',
    remedy: 'Send again after the time that the answer names, or raise the limit of the source.',
    whoCanDoIt: 'sender',
  },
  unavailable: {
    title: 'Millrace cannot store calls right now',
    cause: 'NATS is not reachable or has no room. Nothing of this request is stored.',
    remedy: 'Bring NATS back. Client libraries keep their calls and send them again.',
    whoCanDoIt: 'operator',
  },
  oauth_not_supported: {
    title: 'Bearer tokens are not supported here',
    cause: 'The request has a bearer token, and collect knows write keys only.',
    remedy: 'Send the write key as the user name of HTTP Basic authentication.',
    whoCanDoIt: 'sender',
  },
  unsupported_encoding: {
    title: 'The compression is not supported',
    cause: 'The body is compressed in another way than gzip.',
    remedy: 'Send the body as it is, or with gzip.',
    whoCanDoIt: 'sender',
  },
};
