/// <reference lib="esnext.disposable" preserve="true" />
export type { CallsEvent, EventKind, Listener, SentCall } from './calls-event.ts';
export type {
  AliasCall,
  CallByType,
  CallFields,
  CallType,
  GroupCall,
  Id,
  Identified,
  IdentifyCall,
  JsonFields,
  PageCall,
  ScreenCall,
  TrackCall,
} from './calls.ts';
export {
  ClosedError,
  type InvalidCallCode,
  InvalidCallError,
  NotSentError,
  SpoolError,
  WebhookVerificationError,
  type WebhookProblem,
} from './errors.ts';
export type { Counts } from './counts.ts';
export { Millrace, type NowCalls, type TotalCounts } from './millrace.ts';
export type { Options, WhenFull } from './options.ts';
export type { Scheme, VerifyOptions, WebhookHeaders } from './verify-options.ts';
export { type Secrets, verifyWebhook, verifyWebhookBatch, type WebhookBody } from './verify-webhook.ts';
export {
  type FastifyLike,
  fastifyWebhooks,
  type IncomingLike,
  type OutgoingLike,
  type ReceiveOptions,
  receiveWebhooks,
  verifyRequest,
  verifyRequestBatch,
} from './webhook-adapters.ts';
export type {
  AliasWebhook,
  BatchedWebhook,
  DeleteWebhook,
  GroupWebhook,
  IdentifyWebhook,
  PageWebhook,
  ScreenWebhook,
  TrackWebhook,
  WebhookEvent,
} from './webhook-event.ts';
