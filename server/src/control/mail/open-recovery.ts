/**
 * Mails links to new passwords and new addresses after the request was answered. Requests wait in memory and are worked off together, twice
 * a second: neither the answer nor the one after it says by its time whether an address has an account. A request that is lost
 * with the process is asked again by the person.
 */
import type { Logger } from '../../log.ts';
import { pause } from '../../pause.ts';
import type { KeyRing } from '../../secrets/seal.ts';
import { countRecentLinks } from '../../store/account-links.ts';
import type { Store, Tx } from '../../store/open-store.ts';
import { findUser, findUserByEmail, type UserRow } from '../../store/users.ts';
import { auditAccount } from '../access/audit-account.ts';
import { makeAccountLink, MAX_RECENT_LINKS } from './account-link.ts';
import { type MailNeeds, addMail } from './add-mail.ts';
import { confirmMail, noticeMail, resetMail } from './write-mail.ts';

export type RecoveryNeeds = { store: Store; keyRing: KeyRing; mail?: MailNeeds; now(): Date; log: Logger };

export type ResetAsked = { kind: 'password'; email: string; address: string };
export type EmailAsked = { kind: 'email'; userId: string; sessionId: string; email: string; address: string };
type Asked = ResetAsked | EmailAsked;

export type Recovery = AsyncDisposable & {
  /** Returns at once, and in the same time for every address. */
  ask(asked: Asked): void;
};

const EVERY_MS = 500;
/** A flood of requests must not fill our memory: beyond this they are dropped. */
const MAX_WAITING = 1_000;

export function openRecovery(needs: RecoveryNeeds): Recovery {
  const { mail, log } = needs;
  const life = new AbortController();
  let waiting: Asked[] = [];
  const workOff = async () => {
    const batch = waiting;
    waiting = [];
    for (const asked of batch) {
      await answerAsked(asked, needs).catch((error: unknown) =>
        log.warn({ kind: asked.kind, error: String(error) }, 'recovery.failed'),
      );
    }
  };
  const keep = async () => {
    while (!life.signal.aborted) {
      await pause(EVERY_MS, life.signal);
      await workOff();
    }
  };
  const running = keep();
  return {
    ask(asked) {
      // Without mail there is no way to tell the person: an admin makes the link.
      if (mail === undefined) return;
      if (waiting.length < MAX_WAITING) waiting.push(asked);
      else log.warn({ kind: asked.kind, address: asked.address }, 'recovery.dropped');
    },
    async [Symbol.asyncDispose]() {
      life.abort();
      await running;
    },
  };
}

async function answerAsked(asked: Asked, needs: RecoveryNeeds): Promise<void> {
  const { store, mail } = needs;
  if (mail === undefined) return;
  await store.asSystem(async (tx) => {
    const user = asked.kind === 'password' ? await findUserByEmail(tx, asked.email) : await findUser(tx, asked.userId);
    if (user === undefined || (await countRecentLinks(tx, user.id, asked.kind)) >= MAX_RECENT_LINKS) return;
    if (asked.kind === 'password') await mailReset(tx, user, asked, { ...needs, mail });
    else await mailConfirmation(tx, user, asked, { ...needs, mail });
  });
}

type Mailing = RecoveryNeeds & { mail: MailNeeds };

async function mailReset(tx: Tx, user: UserRow, { address }: ResetAsked, needs: Mailing): Promise<void> {
  const { keyRing, mail, now } = needs;
  const link = await makeAccountLink(tx, { kind: 'password', userId: user.id, createdBy: 'visitor' }, now());
  const text = resetMail({ ...mail, ...link });
  await addMail(
    tx,
    { kind: 'password_reset', workspaceId: '', to: user.email, expiresAt: link.expiresAt, ...text },
    keyRing,
  );
  const actor = { kind: 'visitor', address } as const;
  await auditAccount(tx, user.id, { at: now(), actor, action: 'password.link_mailed' });
}

/** An address that has an account gets no mail, and the answer was the same. */
async function mailConfirmation(tx: Tx, user: UserRow, asked: EmailAsked, needs: Mailing): Promise<void> {
  const { keyRing, mail, now } = needs;
  const { email, address, sessionId } = asked;
  if ((await findUserByEmail(tx, email)) !== undefined) return;
  const link = await makeAccountLink(
    tx,
    { kind: 'email', userId: user.id, newEmail: email, createdBy: user.id },
    now(),
  );
  const { expiresAt } = link;
  const about = { workspaceId: '', expiresAt };
  await addMail(tx, { kind: 'email_change', to: email, ...about, ...confirmMail({ ...mail, ...link }) }, keyRing);
  const notice = noticeMail('email_asked', mail.consoleUrl);
  await addMail(tx, { kind: 'notice', to: user.email, ...about, ...notice }, keyRing);
  const actor = { kind: 'user', id: user.id, sessionId, address } as const;
  await auditAccount(tx, user.id, { at: now(), actor, action: 'email.link_mailed', details: { email } });
}
