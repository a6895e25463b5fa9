/** The texts of all mails. Pure. A mail holds one link, and otherwise nothing that a mail program makes a link of. */
export type MailText = { subject: string; text: string };

type Invitation = { consoleUrl: string; secret: string; workspace: string; role: string };

export function invitationMail({ consoleUrl, secret, workspace, role }: Invitation): MailText {
  const name = plain(workspace);
  return {
    subject: `Invitation to the workspace “${name}” on Millrace`,
    text: lines(
      `You are invited to the workspace “${name}” at ${hostOf(consoleUrl)}, as ${role}.`,
      `Open this link to join. It works once, for 72 hours:`,
      `${consoleUrl}/join#token=${secret}`,
      `If you do not know why you get this mail, ignore it: nothing happens without the link.`,
    ),
  };
}

export function resetMail({ consoleUrl, secret }: { consoleUrl: string; secret: string }): MailText {
  return {
    subject: 'A new password for your Millrace account',
    text: lines(
      `A new password was asked for, for your account at ${hostOf(consoleUrl)}.`,
      `Open this link to choose it. It works once, for an hour:`,
      `${consoleUrl}/reset#token=${secret}`,
      `If you did not ask for it, ignore this mail: your password stays as it is.`,
    ),
  };
}

export function confirmMail({ consoleUrl, secret }: { consoleUrl: string; secret: string }): MailText {
  return {
    subject: 'Confirm the new address of your Millrace account',
    text: lines(
      `This address is to become the address of an account at ${hostOf(consoleUrl)}.`,
      `Open this link and sign in with that account to confirm it. It works once, for 24 hours:`,
      `${consoleUrl}/confirm-email#token=${secret}`,
      `If the account is not yours, ignore this mail: the link is of no use without signing in.`,
    ),
  };
}

const NOTICES = {
  password_changed: ['Your Millrace password was changed', 'The password of your account was changed by a link.'],
  email_asked: [
    'A new address was asked for, for your Millrace account',
    'Your account is to have another email address. This address stays valid until the new one is confirmed.',
  ],
  email_changed: [
    'The address of your Millrace account was changed',
    'Your account has another email address now. This one no longer signs in.',
  ],
  factor_added: [
    'Your Millrace account has a new way to sign in',
    'An authenticator app, a passkey or new recovery codes were added to your account.',
  ],
  factor_removed: [
    'A way to sign in was removed from your Millrace account',
    'An authenticator app or a passkey was removed from your account.',
  ],
  factors_removed: [
    'The second factors of your Millrace account were removed',
    'The operator has removed every second factor of your account, which signs in with its password alone now.',
  ],
  recovery_code_used: [
    'A recovery code of your Millrace account was used',
    'A recovery code took the place of your second factor. It does not work again.',
  ],
  codes_guessed: [
    'Too many wrong codes for your Millrace account',
    'Twenty wrong codes of your authenticator app were tried within a day, each after your right password. Choose a new password.',
  ],
  single_sign_on_linked: [
    'Single sign-on was linked with your Millrace account',
    'Your account was linked with the provider of a workspace, which opens that workspace from now on. Your other sessions have ended.',
  ],
  single_sign_on_unlinked: [
    'Single sign-on was taken from your Millrace account',
    'The provider of a workspace no longer opens that workspace for your account.',
  ],
} as const;

export type NoticeKind = keyof typeof NOTICES;

/** Tells the owner of an account about a change, so that a change by a stranger does not stay hidden. Holds no link. */
export function noticeMail(kind: NoticeKind, consoleUrl: string): MailText {
  const [subject, what] = NOTICES[kind];
  return {
    subject,
    text: lines(
      `${what} The account is at ${hostOf(consoleUrl)}.`,
      'If that was not you, ask an owner of your workspace at once to remove your account from it.',
    ),
  };
}

function lines(...paragraphs: string[]): string {
  return `${paragraphs.join('\n\n')}\n`;
}

function hostOf(consoleUrl: string): string {
  return new URL(consoleUrl).host;
}

const MAX_NAME_CHARACTERS = 60;

/** A member of a workspace chooses its name: in a mail to a stranger it must not become a link, nor more than a name. */
export function plain(name: string): string {
  return name
    .replaceAll(/[\p{C}\p{Z}<>“”"]+/gu, ' ')
    .replaceAll(/[.:/@](?=\S)/g, ' ')
    .replaceAll(/ +/g, ' ')
    .trim()
    .slice(0, MAX_NAME_CHARACTERS);
}
