import type { ProblemCode } from './codes.ts';
import type { Help } from './help.ts';

/** Single sign-on did not work, or something needs it. */
export const SIGN_ON_HELP: Record<Extract<ProblemCode, `sso_${string}`>, Help> = {
  sso_required: {
    title: 'The workspace asks for single sign-on',
    cause: 'An owner has set that members reach the workspace by its provider alone.',
    remedy: 'Continue with single sign-on. An account with a password is linked to the provider once, in the profile.',
    whoCanDoIt: 'you',
  },
  sso_session: {
    title: 'This session was started by single sign-on',
    cause: 'Such a session opens one workspace, and changes neither a password nor other workspaces.',
    remedy: 'Sign in with your password, if your account has one. Otherwise your provider has your name and address.',
    whoCanDoIt: 'you',
  },
  sso_unknown: {
    title: 'There is no single sign-on here',
    cause: 'No workspace has single sign-on for this address, or the link names none.',
    remedy: 'Use the sign-in link of your workspace, which its owner has, or sign in with your password.',
    whoCanDoIt: 'you',
  },
  sso_unavailable: {
    title: 'Single sign-on is not possible yet',
    cause: 'The provider sends people back to the address of the console, which this installation does not know.',
    remedy: 'Set the address of the console in the settings of Millrace.',
    whoCanDoIt: 'operator',
  },
  sso_ended: {
    title: 'This sign-in has ended',
    cause: 'It was used already, took longer than ten minutes, or was begun in another browser.',
    remedy: 'Start to sign in again, and stay in one browser.',
    whoCanDoIt: 'you',
  },
  sso_failed: {
    title: 'The provider did not complete the sign-in',
    cause: 'Millrace does not reach the provider, or does not accept its answer. The answer says why.',
    remedy: 'Try again. If it lasts, an owner looks at the connection under Team, which can be tested there.',
    whoCanDoIt: 'owner',
  },
  sso_refused: {
    title: 'The workspace does not let you in',
    cause: 'The provider knows you, but your groups, your address or another account stand against it.',
    remedy: 'Read the reason in the answer, and show it to an owner of the workspace.',
    whoCanDoIt: 'owner',
  },
};
