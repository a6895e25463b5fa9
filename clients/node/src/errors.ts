/**
 * Why a call is refused: the codes of the service, and `not_json` for what cannot be written as JSON. Written out, so that
 * the package's types need not carry the service's sentences.
 */
export type InvalidCallCode =
  | 'type_unknown'
  | 'id_required'
  | 'id_not_string'
  | 'event_not_defined'
  | 'event_not_string'
  | 'group_id_required'
  | 'previous_id_required'
  | 'user_id_required'
  | 'properties_not_object'
  | 'traits_not_object'
  | 'context_not_object'
  | 'integrations_not_object'
  | 'name_not_string'
  | 'category_not_string'
  | 'timestamp_invalid'
  | 'message_id_too_long'
  | 'call_too_large'
  | 'empty_batch'
  | 'too_many_calls'
  | 'too_deep'
  | 'not_json';

/** The call breaks the contract and was not queued; `code` is the one the service would have answered. */
export class InvalidCallError extends Error {
  override readonly name = 'InvalidCallError';
  readonly code: InvalidCallCode;

  constructor(code: InvalidCallCode, message: string) {
    super(message);
    this.code = code;
  }
}

/** The client was closed before this call was made. */
export class ClosedError extends Error {
  override readonly name = 'ClosedError';
  readonly code = 'closed';

  constructor() {
    super('The client is closed. Make calls before close(), or make a new client.');
  }
}

/** A call made with `now` was not stored; `code` says why. */
export class NotSentError extends Error {
  override readonly name = 'NotSentError';
  readonly code: string;

  constructor(code: string, message: string) {
    super(message);
    this.code = code;
  }
}

/** The spool directory cannot be used: another process has it, or the disk said no. */
export class SpoolError extends Error {
  override readonly name = 'SpoolError';
  readonly code: 'spool_locked' | 'spool_unusable';

  constructor(code: SpoolError['code'], message: string) {
    super(message);
    this.code = code;
  }
}

/** A received webhook cannot be trusted. */
export class WebhookVerificationError extends Error {
  override readonly name = 'WebhookVerificationError';
  readonly code: WebhookProblem;

  constructor(code: WebhookProblem, message: string) {
    super(message);
    this.code = code;
  }
}

export type WebhookProblem =
  | 'signature_missing'
  | 'signature_invalid'
  | 'timestamp_invalid'
  | 'timestamp_too_old'
  | 'timestamp_too_new'
  | 'body_invalid'
  | 'body_too_large';
