/** Ways back into an account, and a new address for it: by links that work once. */
import { type Static, Type } from 'typebox';
import { Email } from './access.ts';
import { Time } from './page.ts';
import { CurrentPassword, NewPassword } from './password.ts';

const LinkToken = Type.String({ maxLength: 200 });

export const PasswordResetRequest = Type.Object({ email: Email }, { additionalProperties: false });
export const EmailChangeRequest = Type.Object(
  { email: Email, password: CurrentPassword },
  { additionalProperties: false },
);
/** The same for every address, whether it has an account or not. */
export const MailAsked = Type.Object({
  /** Whether this installation sends mail at all. */
  sendsMail: Type.Boolean(),
});

export const PasswordReset = Type.Object({ token: LinkToken, password: NewPassword }, { additionalProperties: false });
export const EmailConfirmation = Type.Object({ token: LinkToken }, { additionalProperties: false });

export const NewEmailLink = Type.Object({ email: Email }, { additionalProperties: false });
/** The only answer that ever holds the link, and only where the installation sends no mail. */
export const MemberLink = Type.Object({
  sentByMail: Type.Boolean(),
  expiresAt: Time,
  token: Type.Optional(Type.String()),
  /** A path of the console. */
  link: Type.Optional(Type.String()),
});

export type MailAsked = Static<typeof MailAsked>;
export type MemberLink = Static<typeof MemberLink>;
