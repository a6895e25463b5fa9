/**
 * The codes that people meet in answers and records. The server types its own tables by these lists, and the help texts are typed by
 * them too: the compiler demands an entry for each code, and refuses an entry without one.
 */

/** The ways in which a POST ends without a status. */
export const ERROR_CLASSES = [
  'url_invalid',
  'request_invalid',
  'address_forbidden',
  'dns_not_found',
  'dns_failed',
  'dns_timeout',
  'connection_refused',
  'connection_reset',
  'connection_failed',
  'tls_self_signed',
  'tls_expired',
  'tls_wrong_host',
  'tls_untrusted',
  'tls_failed',
  'timeout',
  'bad_response',
  'answer_too_large',
  'not_sent',
  'stopped',
] as const;
export type ErrorClass = (typeof ERROR_CLASSES)[number];

/** Why an event does not go to a destination. */
export const SKIP_REASONS = [
  'erased',
  'suppressed',
  'destination_disabled',
  'integrations_map',
  'blocked_event',
  'type_not_accepted',
  'filtered',
] as const;
export type SkipReason = (typeof SKIP_REASONS)[number];

/** Why deliver gave a delivery up. */
export const GIVE_UP_REASONS = ['discarded', 'expired', 'lane_full', 'destination_deleted', 'letter_refused'] as const;
export type GiveUpReason = (typeof GIVE_UP_REASONS)[number];

/** The problems that the control API answers with. */
export const PROBLEM_CODES = [
  'invalid_request',
  'invalid_cursor',
  'not_signed_in',
  'wrong_password',
  'wrong_code',
  'passkey_refused',
  'sign_in_again',
  'second_factor_needed',
  'confirm_first',
  'not_allowed',
  'cross_site',
  'sso_required',
  'sso_session',
  'sso_unknown',
  'sso_unavailable',
  'sso_ended',
  'sso_failed',
  'sso_refused',
  'workspace_required',
  'not_found',
  'delivery_without_row',
  'cursor_gone',
  'conflict',
  'last_owner',
  'last_operator',
  'too_many_destinations',
  'too_many_definitions',
  'still_used',
  'no_mail',
  'no_passkeys',
  'already_set_up',
  'configuration_too_large',
  'body_too_large',
  'not_json',
  'idempotency_key_reused',
  'too_many_tries',
  'too_many_codes',
  'too_many_requests',
  'too_many_requests_a_second',
  'too_many_questions',
  'too_many_streams',
  'too_soon',
  'sign_in_busy',
  'database_unavailable',
  'database_refused',
  'no_deliver',
  'deliver_busy',
  'not_applied',
  'engine_unavailable',
  'wrong_state',
  'not_waiting',
  'limit_reached',
  'host_not_proven',
  'older_processes',
  'event_gone',
  'internal',
] as const;
export type ProblemCode = (typeof PROBLEM_CODES)[number];
