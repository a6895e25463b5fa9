import type { ProblemCode } from './codes.ts';
import type { Help } from './help.ts';

/** The control API refused something about second factors. */
export const FACTOR_HELP = {
  wrong_code: {
    title: 'The code is wrong',
    cause: 'It is not the current code of your authenticator app, or the code was used already.',
    remedy: 'Wait for the next code of the app and try again. Check that the clock of your phone is right.',
    whoCanDoIt: 'you',
  },
  passkey_refused: {
    title: 'The passkey was refused',
    cause: 'It is not a passkey of this account, it was made for another address, or it may have been copied.',
    remedy: 'Try another passkey or another way. Remove the passkey from your profile if you no longer have it.',
    whoCanDoIt: 'you',
  },
  sign_in_again: {
    title: 'The sign-in has ended',
    cause: 'The second factor came too late, after too many tries, from another browser, or after a new password.',
    remedy: 'Begin to sign in again.',
    whoCanDoIt: 'you',
  },
  second_factor_needed: {
    title: 'A second factor is needed',
    cause: 'The workspace demands a second factor of its members, or your account has one and it was not given.',
    remedy: 'Add one under your profile, or sign in with the one that you have.',
    whoCanDoIt: 'you',
  },
  confirm_first: {
    title: 'Confirm that it is you',
    cause: 'A change of the ways to sign in asks for your password again, and for a second factor if you have one.',
    remedy: 'Confirm it under your profile; then you have ten minutes for changes.',
    whoCanDoIt: 'you',
  },
  no_passkeys: {
    title: 'This installation has no passkeys',
    cause: 'A passkey is bound to the address of the console, and the installation does not name one with HTTPS.',
    remedy: 'Ask the people who run Millrace to set the address of the console. An authenticator app needs none.',
    whoCanDoIt: 'operator',
  },
  too_many_codes: {
    title: 'Too many wrong codes',
    cause:
      'Twenty wrong codes of your authenticator app were tried within a day, by you or by a person with your password.',
    remedy: 'Use a passkey or a recovery code, or wait a day. If the tries were not yours, choose a new password.',
    whoCanDoIt: 'you',
  },
} satisfies Partial<Record<ProblemCode, Help>>;
