/** Signing in by the provider of a workspace, and linking an account with it. */
import {
  FinishedSingleSignOn,
  FinishSingleSignOn,
  LinkSingleSignOn,
  StartedSingleSignOn,
  StartSingleSignOn,
} from '@millrace/contract/control';
import { networkOf } from '../../../http/network-of.ts';
import { appendAudit } from '../../../store/audit-log.ts';
import { findMember } from '../../../store/members.ts';
import type { Tx } from '../../../store/open-store.ts';
import { hasFactor } from '../../../store/second-factors.ts';
import { confirmedUntil, deleteBoundSessions } from '../../../store/sessions.ts';
import { type ConnectionRow, findConnection, findConnectionOfDomain } from '../../../store/sso-connections.ts';
import { deleteIdentitiesOf } from '../../../store/sso-identities.ts';
import { findUser } from '../../../store/users.ts';
import { type AccountNeeds, type AccountRoute, accountRoute } from '../../http/account-route.ts';
import { mustKnowPassword } from '../../access/own-password.ts';
import { tellAccount } from '../../mail/tell-account.ts';
import { ApiProblem, found } from '../../problems/problems.ts';
import { beginAttempt } from './begin-attempt.ts';
import { finishAttempt } from './finish-attempt.ts';
import { mustBePossible } from './open-connection.ts';

/** Of one network: a company behind one address begins its day. Each sign-in counts twice. */
const TRIES_PER_MINUTE = 120;

export const singleSignInRoutes: AccountRoute[] = [
  accountRoute({
    method: 'POST',
    url: '/api/v1/session/single-sign-on',
    summary: 'Begins to sign in by the provider of a workspace: the answer says where the browser goes',
    access: 'anybody',
    body: StartSingleSignOn,
    answer: StartedSingleSignOn,
    status: 201,
    async handle({ body, address, browser }, needs) {
      mustTakeTurn(address, needs);
      const row = await needs.store.asSystem((tx) => findNamed(tx, body));
      if (row === undefined || needs.singleSignOn === undefined) throw new ApiProblem('sso_unknown');
      const hint = body.email === undefined ? {} : { loginHint: body.email };
      const begun = await beginAttempt({ row, browser, ...hint, link: null }, needs);
      return { body: { url: begun.url }, browser: begun.browser };
    },
  }),
  accountRoute({
    method: 'POST',
    url: '/api/v1/session/single-sign-on/finish',
    summary:
      'Ends what began at the provider: the answer sets a session cookie for one workspace, or the account is linked',
    access: 'anybody',
    body: FinishSingleSignOn,
    answer: FinishedSingleSignOn,
    status: 200,
    async handle({ body, address, userAgent, browser }, needs) {
      mustTakeTurn(address, needs);
      const finished = await finishAttempt({ ...body, address, userAgent, browser }, needs);
      const { kind } = finished;
      return { body: { kind }, ...(finished.kind === 'signed_in' && { session: finished.session }) };
    },
  }),
  accountRoute({
    method: 'POST',
    url: '/api/v1/me/single-sign-on',
    summary: 'Begins to link your account with the provider of a workspace; needs your password',
    access: 'user',
    body: LinkSingleSignOn,
    answer: StartedSingleSignOn,
    status: 201,
    async handle({ who, body, browser, address }, needs) {
      const { userId, sessionId } = who;
      const { workspaceId } = body;
      mustBePossible(needs);
      await mustKnowPassword({ userId, password: body.password, address }, needs);
      const row = await needs.store.asSystem(async (tx) => {
        found(await findMember(tx, { workspaceId, userId }));
        // A new way to sign in asks for what every change of the ways asks for.
        if ((await hasFactor(tx, userId)) && (await confirmedUntil(tx, sessionId)) === null) {
          throw new ApiProblem('confirm_first');
        }
        return findConnection(tx, workspaceId);
      });
      if (row === undefined) throw new ApiProblem('sso_unknown');
      const begun = await beginAttempt({ row, browser, link: { userId, sessionId } }, needs);
      return { body: { url: begun.url }, browser: begun.browser };
    },
  }),
  accountRoute({
    method: 'DELETE',
    url: '/api/v1/me/single-sign-on/:workspaceId',
    summary: 'Ends the link of your account with the provider of a workspace',
    access: 'user',
    status: 204,
    async handle({ who, params, address }, needs) {
      const { userId, sessionId } = who;
      const { workspaceId } = params;
      await needs.store.asSystem(async (tx) => {
        found(await findMember(tx, { workspaceId, userId }));
        if ((await deleteIdentitiesOf(tx, { workspaceId, userId })) === 0) throw new ApiProblem('not_found');
        await deleteBoundSessions(tx, workspaceId, userId);
        const actor = { kind: 'user', id: userId, sessionId, address };
        const entry = { at: needs.now(), actor, objectId: userId, details: {} };
        await appendAudit(tx, workspaceId, { ...entry, action: 'single_sign_on.unlinked' });
        const { email } = found(await findUser(tx, userId));
        await tellAccount(tx, { to: email, kind: 'single_sign_on_unlinked' }, needs);
      });
      return {};
    },
  }),
];

/** Names no person: the domain of an address decides, and not whether it has an account. */
function findNamed(
  tx: Tx,
  { email, workspaceId }: { email?: string; workspaceId?: string },
): Promise<ConnectionRow | undefined> {
  if ((email === undefined) === (workspaceId === undefined)) {
    throw new ApiProblem('invalid_request', [{ path: '', message: 'must have either email or workspaceId' }]);
  }
  if (workspaceId !== undefined) return findConnection(tx, workspaceId);
  return findConnectionOfDomain(tx, (email ?? '').split('@').at(-1)?.toLowerCase() ?? '');
}

function mustTakeTurn(address: string, { tries }: AccountNeeds): void {
  if (!tries.take(`single-sign-on ${networkOf(address)}`, TRIES_PER_MINUTE)) throw new ApiProblem('too_many_tries');
}
