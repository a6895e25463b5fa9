export { acceptCalls, type AcceptedCalls, acceptRequest, type Envelope } from './accept-request.ts';
export {
  type AcceptedEvent,
  type AliasEvent,
  CALL_TYPES,
  type CallType,
  type GroupEvent,
  type IdentifyEvent,
  isCallType,
  isRequestShape,
  type JsonObject,
  type JsonValue,
  type RequestShape,
  type TrackEvent,
  type ViewEvent,
} from './call.ts';
export { checkRequest, type RequestCheck, type RequestRefused, type RequestTaken } from './check-request.ts';
export {
  brokenRule,
  fieldReader,
  FILTER_OPS,
  type FilterOp,
  type FilterRule,
  type FilterValue,
  ruleHolds,
  ruleMatcher,
  valueAt,
} from './filter.ts';
export { ruleProblems, ruleText } from './filter-rule.ts';
export { readId } from './ids.ts';
export * from './limits.ts';
export { type ParsedCall, parseCall } from './parse-call.ts';
export {
  type Problem,
  problemOf,
  REFUSALS,
  REQUEST_PROBLEMS,
  type Refusal,
  type RefusalCode,
  type RequestProblemCode,
} from './refusals.ts';
export { selectsDestination } from './selection.ts';
export {
  signBody,
  type SignedDelivery,
  signingKey,
  type SigningKey,
  signStandardWebhook,
  type StandardHeaders,
  verifyBody,
  verifyStandardWebhook,
} from './signature.ts';
export { formatTimestamp, parseTimestamp } from './timestamps.ts';
export {
  BATCH_FRAME_BYTES,
  batchBody,
  type BatchItem,
  batchItem,
  BODY_FORMATS,
  type BodyFormat,
  deleteBody,
  type DeleteEvent,
  isBatchFormat,
  webhookBody,
} from './webhook-body.ts';
