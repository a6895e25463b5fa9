import type { ProblemCode } from './codes.ts';
import { DELIVERY_HELP } from './delivery-help.ts';
import { FACTOR_HELP } from './factor-help.ts';
import type { Help } from './help.ts';
import { RECORD_HELP } from './record-help.ts';
import { SIGN_ON_HELP } from './sign-on-help.ts';

/** The control API refused a request of a person or a script. */
export const PROBLEM_HELP: Record<ProblemCode, Help> = {
  invalid_request: {
    title: 'The request is not valid',
    cause: 'A field is missing, has the wrong form or is unknown. The answer names each one.',
    remedy: 'Change the fields that the answer names, and send it again.',
    whoCanDoIt: 'you',
  },
  invalid_cursor: {
    title: 'The list cannot be continued here',
    cause: 'The mark of the next page was changed, or comes from another list.',
    remedy: 'Load the list from its beginning.',
    whoCanDoIt: 'you',
  },
  not_signed_in: {
    title: 'You are not signed in',
    cause: 'The session has ended, or the token is missing, revoked or expired.',
    remedy: 'Sign in again, or use a valid token.',
    whoCanDoIt: 'you',
  },
  wrong_password: {
    title: 'The email address or the password is wrong',
    cause: 'No account has this email address with this password.',
    remedy: 'Check both and try again.',
    whoCanDoIt: 'you',
  },
  ...FACTOR_HELP,
  ...RECORD_HELP,
  not_allowed: {
    title: 'You may not do this',
    cause: 'Your role, or the scope of your token, does not include this action.',
    remedy: 'Ask an owner or admin of the workspace for a role or a token that includes it.',
    whoCanDoIt: 'owner',
  },
  cross_site: {
    title: 'The request came from another site',
    cause: 'A browser sent it from a page that does not belong to Millrace, so control refused it for your safety.',
    remedy: 'Use the console itself, or a token in a script.',
    whoCanDoIt: 'you',
  },
  ...SIGN_ON_HELP,
  workspace_required: {
    title: 'The workspace is not named',
    cause: 'You belong to several workspaces, and the request does not say which one it is for.',
    remedy: 'Choose a workspace.',
    whoCanDoIt: 'you',
  },
  not_found: {
    title: 'It does not exist',
    cause: 'It was deleted, it belongs to another workspace, or the address is wrong.',
    remedy: 'Check the address, or look for it in its list.',
    whoCanDoIt: 'you',
  },
  ...DELIVERY_HELP,
  conflict: {
    title: 'It exists already',
    cause: 'Another one of this kind has the same name or address.',
    remedy: 'Choose another name, or change the one that exists.',
    whoCanDoIt: 'you',
  },
  last_owner: {
    title: 'A workspace needs an owner',
    cause: 'This member is the last owner, and no other member could manage the workspace.',
    remedy: 'Make another member an owner first.',
    whoCanDoIt: 'owner',
  },
  last_operator: {
    title: 'The installation needs an operator',
    cause: 'This is the last person who runs the installation, and no other person could manage it.',
    remedy: 'Make another person an operator first.',
    whoCanDoIt: 'operator',
  },
  too_many_destinations: {
    title: 'The source has too many destinations',
    cause: 'A source has at most 50 destinations.',
    remedy: 'Delete a destination that is not needed, or send the calls to a second source too.',
    whoCanDoIt: 'destination',
  },
  too_many_definitions: {
    title: 'The workspace has too many definitions',
    cause: 'A workspace may have 200 audiences and computed traits, because each one costs work for every event.',
    remedy: 'Delete one that is not needed.',
    whoCanDoIt: 'you',
  },
  still_used: {
    title: 'Another audience asks for this one',
    cause: 'Its condition names this audience, and would have no answer without it. The answer says which one it is.',
    remedy: 'Change or delete that audience first.',
    whoCanDoIt: 'you',
  },
  no_mail: {
    title: 'This installation sends no mail',
    cause: 'No mail server is set, so a link cannot be sent to you.',
    remedy: 'Ask an owner or admin of your workspace to make a link for you, and to hand it over.',
    whoCanDoIt: 'owner',
  },
  already_set_up: {
    title: 'This installation is set up already',
    cause: 'The first owner exists, so the link from the log no longer works.',
    remedy: 'Sign in, or ask an owner for an invitation.',
    whoCanDoIt: 'you',
  },
  configuration_too_large: {
    title: 'The configuration is too large',
    cause: 'The source, the destination or the workspace would go over its limit. The answer names the limit.',
    remedy: 'Make it smaller, or delete something that is not needed.',
    whoCanDoIt: 'destination',
  },
  body_too_large: {
    title: 'The request is too large',
    cause: 'The control API takes bodies of 256 KiB at most.',
    remedy: 'Send less in one request.',
    whoCanDoIt: 'you',
  },
  not_json: {
    title: 'The request is not JSON',
    cause: 'The control API takes JSON only, and the request says that it is something else.',
    remedy: 'Send JSON, and name it as the content type.',
    whoCanDoIt: 'you',
  },
  idempotency_key_reused: {
    title: 'The idempotency key was used before',
    cause: 'Another request had the same key within 24 hours.',
    remedy: 'Use a new key for a new request.',
    whoCanDoIt: 'you',
  },
  too_many_tries: {
    title: 'Too many tries',
    cause:
      'There were many tries to sign in or to join within a minute, or many wrong ones for this account within an hour.',
    remedy: 'Wait a minute and try again, best in a browser in which you have signed in before.',
    whoCanDoIt: 'you',
  },
  too_many_requests: {
    title: 'The workspace is busy',
    cause: 'Too many requests of this workspace are under way at the same time.',
    remedy: 'Try again shortly, and let scripts ask less often.',
    whoCanDoIt: 'you',
  },
  too_many_requests_a_second: {
    title: 'The workspace sends too many requests a second',
    cause:
      'All people and tokens of the workspace together sent more requests to the API than it may send in a second.',
    remedy: 'Send fewer requests, or ask the operator of this installation to raise the limit.',
    whoCanDoIt: 'operator',
  },
  too_many_questions: {
    title: 'Too many searches are under way',
    cause: 'Previews, explanations and searches of dead letters cost much, so each workspace has a few at a time.',
    remedy: 'Try again when one of them has ended.',
    whoCanDoIt: 'you',
  },
  too_many_streams: {
    title: 'Too many live views are open',
    cause: 'You, your workspace or all workspaces together have as many live views open as Millrace serves.',
    remedy: 'Close a live view in another tab, and try again.',
    whoCanDoIt: 'you',
  },
  sign_in_busy: {
    title: 'Too many people sign in',
    cause: 'Millrace checks one password at a time, and too many wait. An attack on sign-in looks like this.',
    remedy: 'Try again in a few seconds, in a browser in which you have signed in before: it goes first.',
    whoCanDoIt: 'you',
  },
  database_unavailable: {
    title: 'The database does not answer',
    cause: 'Control does not reach PostgreSQL. Collection and delivery go on, and nothing is lost.',
    remedy: 'Bring PostgreSQL back, then try again.',
    whoCanDoIt: 'operator',
  },
  database_refused: {
    title: 'The database and this version do not fit',
    cause: 'Control waits, because it cannot use the database; the error says why. Collection and delivery go on.',
    remedy:
      'Run the commands millrace upgrade-check and millrace doctor, which say what to do. Control then continues by itself.',
    whoCanDoIt: 'operator',
  },
  no_deliver: {
    title: 'No deliver process answered',
    cause: 'Only deliver processes send to receivers, and none of them is running or reachable.',
    remedy: 'Start a deliver process, then try again.',
    whoCanDoIt: 'operator',
  },
  deliver_busy: {
    title: 'Too many tests are under way',
    cause: 'The deliver process has as many tests and checks under way as it may.',
    remedy: 'Try again shortly.',
    whoCanDoIt: 'you',
  },
  not_applied: {
    title: 'The change is not in use yet',
    cause: 'Deliver does not have the latest version of the destination. The answer says why.',
    remedy: 'Try again in a few seconds.',
    whoCanDoIt: 'you',
  },
  engine_unavailable: {
    title: 'NATS does not answer',
    cause: 'Control does not reach NATS, or NATS took too long.',
    remedy: 'Bring NATS back, then try again.',
    whoCanDoIt: 'operator',
  },
  wrong_state: {
    title: 'Its state does not allow this',
    cause: 'It has changed since you loaded it, or it has ended. A job that has ended stays ended.',
    remedy: 'Load it again and look at its state.',
    whoCanDoIt: 'you',
  },
  too_soon: {
    title: 'An attempt was asked for a moment ago',
    cause: 'Millrace makes one attempt at a time for a destination that fails, and the last one has just begun.',
    remedy: 'Wait some seconds, look at the result of that attempt, and ask again if it is needed.',
    whoCanDoIt: 'you',
  },
  limit_reached: {
    title: 'The workspace has reached a limit',
    cause: 'The workspace has as many of these as it may have. The answer names the limit and its number.',
    remedy: 'Delete something that is not needed, or ask the operator of this installation to raise the limit.',
    whoCanDoIt: 'operator',
  },
  host_not_proven: {
    title: 'The host is not proven to be yours',
    cause:
      'The operator asks for a proof that a receiver belongs to the workspace, and a target names a host without one.',
    remedy:
      'Publish the text of the answer as a DNS record or as a file on the host, and check the host. Then save again.',
    whoCanDoIt: 'you',
  },
  older_processes: {
    title: 'Processes of an older version are running',
    cause: 'The destination asks for a setting that a deliver or control process of an older version does not know.',
    remedy: 'Finish the upgrade: replace or stop the older processes that the system screen lists, then save again.',
    whoCanDoIt: 'operator',
  },
  internal: {
    title: 'Something went wrong in Millrace',
    cause: 'Control met an error that it did not expect. The log has it under the id of the request.',
    remedy: 'Try again. If it lasts, give the id of the request to the people who run Millrace.',
    whoCanDoIt: 'operator',
  },
};
