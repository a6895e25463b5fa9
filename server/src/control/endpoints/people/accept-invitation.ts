import { AcceptInvitation, JoinWorkspace, Me } from '@millrace/contract/control';
import { networkOf } from '../../../http/network-of.ts';
import { appendAudit } from '../../../store/audit-log.ts';
import { findInvitation, takeInvitation } from '../../../store/invitations.ts';
import { findMember, insertMember } from '../../../store/members.ts';
import type { Tx } from '../../../store/open-store.ts';
import { lockFactors } from '../../../store/second-factors.ts';
import { findUserByEmail, insertUser, lockPassword } from '../../../store/users.ts';
import { type AccountRoute, accountRoute } from '../../http/account-route.ts';
import { roleNow } from '../../access/maker-rights.ts';
import { readMe } from './me.ts';
import { checkPassword } from './sign-in.ts';
import { newId } from '../../../store/new-id.ts';
import { hashPassword } from '../../access/password.ts';
import type { RoleName } from '../../access/permissions.ts';
import { ApiProblem, found } from '../../problems/problems.ts';
import { hashOfSecret } from '../../access/secret-text.ts';
import { startSession } from '../../access/start-session.ts';

const TRIES_PER_MINUTE = 10;
const TRIES_PER_MINUTE_OF_NETWORK = 30;

export const acceptRoutes: AccountRoute[] = [
  accountRoute({
    method: 'POST',
    url: '/api/v1/invitations/accept',
    summary: 'Accepts an invitation with a new password, or that of the account you have, and signs in',
    access: 'anybody',
    body: AcceptInvitation,
    answer: Me,
    status: 201,
    async handle({ body, address, userAgent, device }, needs) {
      const { store, tries, now } = needs;
      if (!tries.take(`invitation ${networkOf(address)}`, TRIES_PER_MINUTE_OF_NETWORK))
        throw new ApiProblem('too_many_tries');
      const secretHash = hashOfSecret(body.token);
      const { email } = found(await store.asSystem((tx) => findInvitation(tx, secretHash)));
      if (!tries.take(JSON.stringify(['invitation', email.toLowerCase()]), TRIES_PER_MINUTE)) {
        throw new ApiProblem('too_many_tries');
      }
      const known = await store.asSystem((tx) => findUserByEmail(tx, email));
      // Hashing and checking take equally long, both outside of any transaction.
      const passwordHash = known === undefined ? await hashPassword(body.password) : null;
      // An existing account joins only with its password, which is no easier to guess here than at sign-in: without mail, the maker of the
      // link has it in hand.
      if (known !== undefined) await checkPassword({ email, password: body.password, address, device }, needs);
      return store.asSystem(async (tx) => {
        const userId = known?.id ?? newId('usr');
        if (known !== undefined && !(await lockPassword(tx, known))) throw new ApiProblem('wrong_password');
        if (known !== undefined) await mustHaveNoFactor(tx, userId);
        if (known === undefined) await insertUser(tx, { id: userId, email, name: body.name, passwordHash });
        await join(tx, { secretHash, userId, address }, now());
        const session = await startSession(tx, userId, { address, userAgent }, now());
        return { session, body: await readMe(tx, { kind: 'user', userId, sessionId: '' }) };
      });
    },
  }),
  accountRoute({
    method: 'POST',
    url: '/api/v1/me/workspaces',
    summary: 'Accepts an invitation as the account you are signed in with',
    access: 'user',
    body: JoinWorkspace,
    answer: Me,
    status: 201,
    async handle({ who, body, address }, { store, tries, now }) {
      if (!tries.take(`invitation ${networkOf(address)}`, TRIES_PER_MINUTE_OF_NETWORK))
        throw new ApiProblem('too_many_tries');
      const { userId } = who;
      return store.asSystem(async (tx) => {
        await join(tx, { secretHash: hashOfSecret(body.token), userId, address }, now());
        return { body: await readMe(tx, who) };
      });
    },
  }),
];

/** This endpoint asks for no second factor, so it starts no session of an account that has one. */
async function mustHaveNoFactor(tx: Tx, userId: string): Promise<void> {
  const { has_totp, passkeys } = await lockFactors(tx, userId);
  if (!has_totp && passkeys === 0) return;
  const message = 'your account has a second factor: sign in, then open the link again';
  throw new ApiProblem('second_factor_needed', [{ path: '/password', message }]);
}

type Joining = { secretHash: Buffer; userId: string; address: string };

/** Uses the link up. A link whose maker could no longer grant the role has ended. */
async function join(tx: Tx, { secretHash, userId, address }: Joining, at: Date): Promise<void> {
  const invitation = found(await takeInvitation(tx, secretHash));
  const { workspace_id: workspaceId, created_by: createdBy, email } = invitation;
  const role = invitation.role as RoleName;
  if ((await roleNow(tx, { workspaceId, createdBy, role })) !== role) throw new ApiProblem('not_found');
  if ((await findMember(tx, { workspaceId, userId })) !== undefined) throw new ApiProblem('conflict');
  await insertMember(tx, { workspaceId, userId, role });
  const details = { email, role, invitationId: invitation.id, invitedBy: createdBy };
  const actor = { kind: 'user', id: userId, address };
  await appendAudit(tx, workspaceId, { at, actor, action: 'member.joined', objectId: userId, details });
}
