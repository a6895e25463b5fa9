/** The metrics of accounts and workspaces: limits, mails, sign-ins. */
import type { Declared } from './declared-type.ts';

export const ACCOUNT_METRICS = {
  millrace_limit_refusals_total: {
    kind: 'counter',
    label: 'limit',
    help: 'Things that were refused because their workspace had reached a limit',
  },
  millrace_limits_near: {
    kind: 'gauge',
    label: 'limit',
    help: 'Workspaces that use four fifths of a limit or more',
  },
  millrace_limits_reached: { kind: 'gauge', label: 'limit', help: 'Workspaces that have reached a limit' },
  millrace_mails_total: {
    kind: 'counter',
    label: 'outcome',
    values: ['sent', 'retry', 'dead'],
    help: 'Attempts to send a mail, by what became of it',
  },
  millrace_mails_waiting: { kind: 'gauge', help: 'Mails that wait to be sent' },
  millrace_mails_dead: { kind: 'gauge', help: 'Mails of the last seven days that were given up' },
  millrace_sign_ins_total: {
    kind: 'counter',
    label: 'outcome',
    values: [
      'right',
      'second_factor_asked',
      'wrong_password',
      'wrong_code',
      'passkey_refused',
      'too_many_tries',
      'too_many_codes',
      'sign_in_busy',
      'sso_right',
      'sso_refused',
      'sso_failed',
    ],
    help: 'Tries to sign in, with a password or by single sign-on',
  },
} as const satisfies Record<string, Declared>;
