import type { KeyRing } from '../../secrets/seal.ts';
import { insertMail } from '../../store/mails.ts';
import { newId } from '../../store/new-id.ts';
import type { Tx } from '../../store/open-store.ts';
import type { MailText } from './write-mail.ts';

/** The mail of an installation that sends some; without it, links are shown to those who ask for them. */
export type MailNeeds = {
  /** The console as people reach it; never the Host of a request, which its sender chooses. */
  consoleUrl: string;
};

export type NewMail = MailText & {
  kind: string;
  /** Empty for a mail about an account. */
  workspaceId: string;
  to: string;
  expiresAt: Date;
};

/** In the transaction of the change that the mail is about: both are there or neither is. */
export async function addMail(tx: Tx, mail: NewMail, keyRing: KeyRing): Promise<void> {
  const { kind, workspaceId, to, subject, text, expiresAt } = mail;
  const id = newId('mail');
  const sealed = keyRing.seal(JSON.stringify({ to, subject, text }), mailPlace(workspaceId, id));
  await insertMail(tx, { workspaceId, id, kind, sealed, expiresAt });
}

export function mailPlace(workspaceId: string, id: string) {
  return { workspaceId, table: 'mails', column: 'content_sealed', rowId: id };
}
