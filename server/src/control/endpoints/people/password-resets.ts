import { MailAsked, PasswordReset, PasswordResetRequest } from '@millrace/contract/control';
import { networkOf } from '../../../http/network-of.ts';
import { deleteLinksOf, findAccountLink, takeAccountLink } from '../../../store/account-links.ts';
import type { Tx } from '../../../store/open-store.ts';
import { deleteOtherSessions } from '../../../store/sessions.ts';
import { findUser, setPassword } from '../../../store/users.ts';
import { auditAccount } from '../../access/audit-account.ts';
import { hashPassword } from '../../access/password.ts';
import { hashOfSecret } from '../../access/secret-text.ts';
import { type AccountNeeds, type AccountRoute, accountRoute } from '../../http/account-route.ts';
import { tellAccount } from '../../mail/tell-account.ts';
import { ApiProblem, found } from '../../problems/problems.ts';
import { handOverProblem, isOfMember } from './hand-over.ts';

const ASKS_PER_MINUTE_OF_NETWORK = 10;
const TRIES_PER_MINUTE_OF_NETWORK = 30;

export const passwordResetRoutes: AccountRoute[] = [
  accountRoute({
    method: 'POST',
    url: '/api/v1/password-resets',
    summary: 'Asks for a mail with a link to a new password; the answer is the same for every address',
    access: 'anybody',
    body: PasswordResetRequest,
    answer: MailAsked,
    status: 202,
    async handle({ body, address }, { recovery, mail, tries }) {
      // Beyond the limit the answer is the same, and control does nothing.
      const isFewEnough = tries.take(`reset ${networkOf(address)}`, ASKS_PER_MINUTE_OF_NETWORK);
      if (isFewEnough) recovery.ask({ kind: 'password', email: body.email, address });
      return { body: { sendsMail: mail !== undefined } };
    },
  }),
  accountRoute({
    method: 'POST',
    url: '/api/v1/password-resets/use',
    summary: 'Sets a new password by a link, which works once, and ends all sessions of the account',
    access: 'anybody',
    body: PasswordReset,
    status: 204,
    async handle({ body, address }, needs) {
      const { store, tries, mail } = needs;
      if (!tries.take(`reset link ${networkOf(address)}`, TRIES_PER_MINUTE_OF_NETWORK))
        throw new ApiProblem('too_many_tries');
      const link = { kind: 'password', secretHash: hashOfSecret(body.token) } as const;
      // Before the hash, which is costly, and again behind it.
      found(await store.asSystem((tx) => findAccountLink(tx, link)));
      const passwordHash = await hashPassword(body.password);
      await store.asSystem(async (tx) => {
        const { user_id: userId, created_by: makerId } = found(await takeAccountLink(tx, link));
        // Without mail a member has the link in hand, who may have lost rights since, or the account may have got some.
        const isHandedOver = mail === undefined && isOfMember(makerId);
        if (isHandedOver && (await handOverProblem(tx, { userId, makerId })) !== undefined) {
          throw new ApiProblem('not_found');
        }
        await reset(tx, { userId, passwordHash, address }, needs);
      });
      return {};
    },
  }),
];

type Reset = { userId: string; passwordHash: string; address: string };

/** The link starts no session: the person signs in with the new password, and with a second factor if they have one. */
async function reset(tx: Tx, { userId, passwordHash, address }: Reset, needs: AccountNeeds): Promise<void> {
  const { email } = found(await findUser(tx, userId));
  await setPassword(tx, { id: userId, passwordHash });
  await deleteOtherSessions(tx, { id: '', userId });
  await deleteLinksOf(tx, userId);
  const actor = { kind: 'user', id: userId, address } as const;
  await auditAccount(tx, userId, { at: needs.now(), actor, action: 'password.reset' });
  await tellAccount(tx, { to: email, kind: 'password_changed' }, needs);
}
