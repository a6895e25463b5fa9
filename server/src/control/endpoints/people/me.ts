import { Me, PasswordChange } from '@millrace/contract/control';
import { deleteLinksOf } from '../../../store/account-links.ts';
import { membershipsOf } from '../../../store/members.ts';
import type { Tx } from '../../../store/open-store.ts';
import { hasFactor } from '../../../store/second-factors.ts';
import { isOperator } from '../../../store/operators.ts';
import { deleteOtherSessions, signOutUrlOf } from '../../../store/sessions.ts';
import { signOnOf } from '../../../store/sso-identities.ts';
import { findUser, lockPassword, setPassword } from '../../../store/users.ts';
import { findWorkspace } from '../../../store/workspaces.ts';
import { type AccountRoute, accountRoute } from '../../http/account-route.ts';
import { type Identity, needsSingleSignOn } from '../../access/authenticate.ts';
import { mustKnowPassword } from '../../access/own-password.ts';
import { hashPassword } from '../../access/password.ts';
import { ApiProblem, found } from '../../problems/problems.ts';
import { recordForUser } from '../../access/start-session.ts';

export const meRoutes: AccountRoute[] = [
  accountRoute({
    method: 'GET',
    url: '/api/v1/me',
    summary: 'Your account and your workspaces',
    access: 'signed-in',
    allowsBound: true,
    answer: Me,
    status: 200,
    handle: async ({ who }, { store }) => ({ body: await store.asSystem((tx) => readMe(tx, who)) }),
  }),
  accountRoute({
    method: 'POST',
    url: '/api/v1/me/password',
    summary: 'Changes your password and ends your other sessions',
    access: 'user',
    body: PasswordChange,
    status: 204,
    async handle({ who, body, address }, needs) {
      const { userId, sessionId } = who;
      const { store, now } = needs;
      const user = await mustKnowPassword({ userId, password: body.currentPassword, address }, needs);
      const passwordHash = await hashPassword(body.newPassword);
      await store.asSystem(async (tx) => {
        // A link may have set another one meanwhile.
        if (!(await lockPassword(tx, user))) throw new ApiProblem('wrong_password');
        await setPassword(tx, { id: userId, passwordHash });
        await deleteOtherSessions(tx, { id: sessionId, userId });
        await deleteLinksOf(tx, userId);
        await recordForUser(tx, { userId, sessionId, address }, 'password.changed', now());
      });
      return {};
    },
  }),
];

export async function readMe(tx: Tx, who: Identity) {
  if (who.kind === 'token') {
    const { id, name, role, workspace_id } = who.token;
    const workspaces = [await withName(tx, { id: workspace_id, role })];
    const isTheirs = await isOperator(tx, { kind: 'token', id });
    return { user: null, token: { id, name }, workspaces, isOperator: isTheirs, singleSignOn: null };
  }
  const { userId, sessionId, boundTo } = who;
  const { id, email, name, belongs_to } = found(await findUser(tx, userId));
  const workspaces: Awaited<ReturnType<typeof withName>>[] = [];
  const signOn = await signOnOf(tx, userId);
  for (const member of await membershipsOf(tx, userId)) {
    const { workspace_id, role } = member;
    if (boundTo !== undefined && workspace_id !== boundTo) continue;
    const named = await withName(tx, { id: workspace_id, role });
    const needsIt = boundTo === undefined && needsSingleSignOn(member);
    workspaces.push({ ...named, needsSingleSignOn: needsIt, singleSignOn: signOn.get(workspace_id) ?? 'none' });
  }
  const singleSignOn = boundTo === undefined ? null : { signOutUrl: await signOutUrlOf(tx, sessionId) };
  const user = { id, email, name, hasSecondFactor: await hasFactor(tx, id), isManaged: belongs_to !== null };
  const isTheirs = boundTo === undefined && (await isOperator(tx, { kind: 'user', id }));
  return { user, token: null, workspaces, isOperator: isTheirs, singleSignOn };
}

async function withName(tx: Tx, { id, role }: { id: string; role: string }) {
  const { name, needs_second_factor: needsSecondFactor } = found(await findWorkspace(tx, id));
  const singleSignOn = 'none' as 'none' | 'possible' | 'linked';
  return { id, name, role, needsSecondFactor, needsSingleSignOn: false, singleSignOn };
}
