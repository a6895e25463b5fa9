import type { KeyRing } from '../../secrets/seal.ts';
import type { Tx } from '../../store/open-store.ts';
import { type MailNeeds, addMail } from './add-mail.ts';
import { type NoticeKind, noticeMail } from './write-mail.ts';

const USEFUL_MS = 24 * 3_600_000;

export type Told = { to: string; kind: NoticeKind };

/** Queues a notice about a change of an account, where the installation sends mail. */
export async function tellAccount(
  tx: Tx,
  { to, kind }: Told,
  { keyRing, mail, now }: { keyRing: KeyRing; mail?: MailNeeds; now(): Date },
): Promise<void> {
  if (mail === undefined) return;
  const expiresAt = new Date(now().getTime() + USEFUL_MS);
  await addMail(tx, { kind: 'notice', workspaceId: '', to, expiresAt, ...noticeMail(kind, mail.consoleUrl) }, keyRing);
}
