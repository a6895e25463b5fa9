import { EmailChangeRequest, EmailConfirmation, MailAsked, Me } from '@millrace/contract/control';
import { deleteLinksOf, takeAccountLink } from '../../../store/account-links.ts';
import { deleteOtherSessions } from '../../../store/sessions.ts';
import { findUser, findUserByEmail, setEmail } from '../../../store/users.ts';
import { auditAccount } from '../../access/audit-account.ts';
import { hashOfSecret } from '../../access/secret-text.ts';
import { type AccountRoute, accountRoute } from '../../http/account-route.ts';
import { mustKnowPassword } from '../../access/own-password.ts';
import { tellAccount } from '../../mail/tell-account.ts';
import { ApiProblem, found } from '../../problems/problems.ts';
import { readMe } from './me.ts';

const TRIES_PER_MINUTE = 10;

export const emailChangeRoutes: AccountRoute[] = [
  accountRoute({
    method: 'POST',
    url: '/api/v1/me/email',
    summary: 'Asks for a mail to a new address of your account, with a link that confirms it',
    access: 'user',
    body: EmailChangeRequest,
    answer: MailAsked,
    status: 202,
    async handle({ who, body, address }, needs) {
      const { userId, sessionId } = who;
      if (needs.mail === undefined) throw new ApiProblem('no_mail');
      await mustKnowPassword({ userId, password: body.password, address }, needs);
      needs.recovery.ask({ kind: 'email', userId, sessionId, email: body.email, address });
      return { body: { sendsMail: true } };
    },
  }),
  accountRoute({
    method: 'POST',
    url: '/api/v1/me/email/confirm',
    summary: 'Confirms a new address of your account by a link, which works once; your other sessions end',
    access: 'user',
    body: EmailConfirmation,
    answer: Me,
    status: 200,
    async handle({ who, body, address }, needs) {
      const { userId, sessionId } = who;
      const { store, tries, now } = needs;
      if (!tries.take(`email link ${userId}`, TRIES_PER_MINUTE)) throw new ApiProblem('too_many_tries');
      return store.asSystem(async (tx) => {
        const link = found(await takeAccountLink(tx, { kind: 'email', secretHash: hashOfSecret(body.token) }));
        const email = link.new_email ?? '';
        // Signed in as another account, or the address got an account meanwhile: in both cases the link is worth nothing.
        if (link.user_id !== userId || (await findUserByEmail(tx, email)) !== undefined)
          throw new ApiProblem('not_found');
        const before = found(await findUser(tx, userId));
        await setEmail(tx, { id: userId, email });
        await deleteOtherSessions(tx, { id: sessionId, userId });
        await deleteLinksOf(tx, userId);
        const actor = { kind: 'user', id: userId, sessionId, address } as const;
        const details = { from: before.email, to: email };
        await auditAccount(tx, userId, { at: now(), actor, action: 'email.changed', details });
        await tellAccount(tx, { to: before.email, kind: 'email_changed' }, needs);
        return { body: await readMe(tx, who) };
      });
    },
  }),
];
