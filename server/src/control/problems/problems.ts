import type { ProblemCode as ProblemName } from '@millrace/contract/help';

/** Every problem that the control API answers with: its status, its title, and the remedy. */
const PROBLEMS = {
  invalid_request: [400, 'The request is not valid', 'See errors for what to change.'],
  invalid_cursor: [
    400,
    'The cursor is not valid',
    'Use nextCursor of the last page as it is, or start without a cursor.',
  ],
  not_signed_in: [401, 'You are not signed in', 'Send `Authorization: Bearer <token>`, or sign in.'],
  wrong_password: [401, 'The email address or the password is wrong', 'Check both and try again.'],
  wrong_code: [401, 'The code is wrong', 'Each code works once. Wait for the next one and try again.'],
  passkey_refused: [401, 'The passkey was refused', 'Try another passkey, or another way to sign in.'],
  sign_in_again: [401, 'The sign-in has ended', 'Begin to sign in again.'],
  second_factor_needed: [403, 'A second factor is needed', 'See errors for what to do.'],
  confirm_first: [
    403,
    'Confirm that it is you',
    'Send your password, and a second factor if you have one, to /api/v1/me/confirm first.',
  ],
  not_allowed: [403, 'You may not do this', 'Ask an owner of the workspace for a role or a token that may.'],
  cross_site: [403, 'The request came from another site', 'Use the console itself, or a token.'],
  sso_required: [
    403,
    'The workspace asks for single sign-on',
    'Sign in by the provider of the workspace. A break-glass owner signs in with the password.',
  ],
  sso_session: [
    403,
    'This session was started by single sign-on',
    'It opens one workspace and changes no account. Sign in with your password, if your account has one.',
  ],
  sso_unknown: [
    404,
    'There is no single sign-on here',
    'Check the address, use the sign-in link of your workspace, or sign in with your password.',
  ],
  sso_unavailable: [
    409,
    'This installation does not know its own address',
    'Single sign-on needs it. The operator sets MILLRACE_CONSOLE_URL.',
  ],
  sso_ended: [
    401,
    'This sign-in has ended',
    'It was used already, took longer than ten minutes, or was begun in another browser. Start again.',
  ],
  sso_failed: [502, 'The provider did not complete the sign-in', 'See errors for what is wrong.'],
  sso_refused: [403, 'The provider knows you, but the workspace does not let you in', 'See errors for why.'],
  workspace_required: [400, 'Several workspaces are possible', 'Name one in the header Millrace-Workspace.'],
  not_found: [404, 'It does not exist', 'Check the id: it may belong to another workspace, or be deleted.'],
  delivery_without_row: [
    404,
    'The delivery succeeded at its first attempt, and its row was not kept',
    'The installation keeps a sample of such rows (MILLRACE_RECORD_ROWS). Explain the event for the time; counters have it.',
  ],
  cursor_gone: [
    410,
    'The outcomes after this cursor are not all there any more',
    'Begin without a cursor, and read what is missing from the deliveries. Outcomes are kept for MILLRACE_EXPORT_RETENTION.',
  ],
  conflict: [409, 'It exists already', 'Choose another one, or change the one that exists.'],
  last_owner: [409, 'A workspace needs an owner', 'Make another member an owner first.'],
  last_operator: [409, 'The installation needs an operator', 'Make another person an operator first.'],
  too_many_destinations: [
    409,
    'The source has too many destinations',
    'Delete one that is not needed, or send the events to a second source.',
  ],
  too_many_definitions: [
    409,
    'The workspace has too many audiences and computed traits',
    'A workspace may have 200. Delete one that is not needed.',
  ],
  still_used: [409, 'Another audience asks for this one', 'See errors for which. Change or delete that one first.'],
  no_mail: [
    409,
    'This installation sends no mail',
    'Ask an admin of your workspace to make a link for you, and hand it over.',
  ],
  no_passkeys: [
    409,
    'This installation has no passkeys',
    'The operator has to set the address of the console. An authenticator app needs none.',
  ],
  already_set_up: [409, 'This installation is set up already', 'Sign in instead.'],
  configuration_too_large: [
    409,
    'The configuration is too large',
    'See errors for the limit. Make it smaller, or delete something that is not needed.',
  ],
  limit_reached: [
    409,
    'The workspace has reached a limit',
    'See errors for the limit and for who can raise it. Delete something that is not needed, or ask for more.',
  ],
  host_not_proven: [
    409,
    'The host is not proven to be yours',
    'See errors for the host, and for how to prove it. This installation sends only to hosts that a workspace has proven.',
  ],
  older_processes: [
    409,
    'Processes of an older version are running',
    'See errors for the setting that they do not know. The operator finishes the upgrade; then try again.',
  ],
  event_gone: [410, 'The event is no longer stored', 'See errors for why.'],
  body_too_large: [413, 'The body is too large', 'Send at most 256 KiB.'],
  not_json: [415, 'The body is not JSON', 'Send `Content-Type: application/json`.'],
  idempotency_key_reused: [422, 'The Idempotency-Key was used for another request', 'Use a new key for a new request.'],
  too_many_tries: [429, 'Too many tries', 'Wait a minute and try again.'],
  too_many_codes: [429, 'Too many wrong codes', 'Use a passkey or a recovery code, or wait a day.'],
  too_soon: [429, 'An attempt was asked for just now', 'Wait five seconds and try again.'],
  too_many_requests: [429, 'The workspace has too many concurrent requests', 'Try again when some of them have ended.'],
  too_many_requests_a_second: [
    429,
    'The workspace sends too many requests a second',
    'See errors for the limit and for who can raise it. Send the request again after the seconds given in Retry-After.',
  ],
  too_many_questions: [
    429,
    'Too many previews, explanations or scans of dead letters are running',
    'Try again when one of them has ended.',
  ],
  too_many_streams: [429, 'Too many live tails are open', 'Close one, and try again.'],
  sign_in_busy: [503, 'Too many people sign in at this moment', 'Try again in a few seconds.'],
  database_unavailable: [
    503,
    'The database does not answer',
    'Collection and delivery go on. Try again shortly, with the same Idempotency-Key if you sent one.',
  ],
  database_refused: [
    503,
    'The database and this version do not fit',
    'Collection and delivery go on. See errors for why; `millrace upgrade-check` says what to do.',
  ],
  no_deliver: [
    503,
    'No deliver process answered',
    'Requests to webhooks are made by processes with the role deliver: start one, or try again shortly.',
  ],
  deliver_busy: [503, 'Deliver has as many tests and checks under way as it may', 'Try again shortly.'],
  not_applied: [503, 'Deliver cannot do this yet', 'See errors for why.'],
  engine_unavailable: [503, 'NATS does not answer', 'Try again shortly.'],
  not_waiting: [409, 'It does not wait for an attempt', 'See errors for why, and for what to do instead.'],
  wrong_state: [409, 'Its state does not allow this', 'Read its current state. A job that has ended stays ended.'],
  internal: [500, 'Something went wrong on our side', 'The server log has the error under the request id.'],
} as const satisfies Record<ProblemName, readonly [status: number, title: string, detail: string]>;

export type ProblemCode = keyof typeof PROBLEMS;
export const PROBLEM_CODES = Object.keys(PROBLEMS) as ProblemCode[];

export type FieldError = { path: string; message: string };

/** Thrown anywhere in a request; answer-problem.ts answers it. */
export class ApiProblem extends Error {
  override readonly name = 'ApiProblem';
  readonly code: ProblemCode;
  readonly errors: FieldError[] | undefined;

  constructor(code: ProblemCode, errors?: FieldError[]) {
    super(PROBLEMS[code][1]);
    this.code = code;
    this.errors = errors;
  }
}

/** RFC 9457. */
export function problemDocument({ code, errors }: ApiProblem, requestId: string) {
  const [status, title, detail] = PROBLEMS[code];
  return { type: 'about:blank', title, status, code, detail, requestId, ...(errors === undefined ? {} : { errors }) };
}

/** Unwraps a row, or answers 404: an id of another workspace gets the same answer as one that does not exist. */
export function found<T>(value: T | undefined): T {
  if (value === undefined) throw new ApiProblem('not_found');
  return value;
}
