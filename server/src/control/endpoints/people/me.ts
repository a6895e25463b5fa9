import { Me, PasswordChange } from '@millrace/contract/control';
import { membershipsOf } from '../../../store/members.ts';
import type { Tx } from '../../../store/open-store.ts';
import { hasFactor } from '../../../store/second-factors.ts';
import { isOperator } from '../../../store/operators.ts';
import { deleteOtherSessions } from '../../../store/sessions.ts';
import { findUser, setPassword } from '../../../store/users.ts';
import { findWorkspace } from '../../../store/workspaces.ts';
import { type AccountRoute, accountRoute } from '../../http/account-route.ts';
import type { Identity } from '../../access/authenticate.ts';
import { hashPassword, isPassword } from '../../access/password.ts';
import { ApiProblem, found } from '../../problems/problems.ts';
import { recordForUser } from '../../access/start-session.ts';

const TRIES_PER_MINUTE = 10;

export const meRoutes: AccountRoute[] = [
  accountRoute({
    method: 'GET',
    url: '/api/v1/me',
    summary: 'Your account and your workspaces',
    access: 'signed-in',
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
    async handle({ who, body, address }, { store, tries, now }) {
      const { userId, sessionId } = who;
      if (!tries.take(`password ${userId}`, TRIES_PER_MINUTE)) throw new ApiProblem('too_many_tries');
      const user = found(await store.asSystem((tx) => findUser(tx, userId)));
      if (!(await isPassword(body.currentPassword, user.password_hash ?? ''))) throw new ApiProblem('wrong_password');
      const passwordHash = await hashPassword(body.newPassword);
      await store.asSystem(async (tx) => {
        await setPassword(tx, { id: userId, passwordHash });
        await deleteOtherSessions(tx, { id: sessionId, userId });
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
    return { user: null, token: { id, name }, workspaces, isOperator: await isOperator(tx, { kind: 'token', id }) };
  }
  const { id, email, name } = found(await findUser(tx, who.userId));
  const workspaces: Awaited<ReturnType<typeof withName>>[] = [];
  for (const { workspace_id, role } of await membershipsOf(tx, who.userId)) {
    workspaces.push(await withName(tx, { id: workspace_id, role }));
  }
  const hasSecondFactor = await hasFactor(tx, id);
  const user = { id, email, name, hasSecondFactor };
  return { user, token: null, workspaces, isOperator: await isOperator(tx, { kind: 'user', id }) };
}

async function withName(tx: Tx, { id, role }: { id: string; role: string }) {
  const { name, needs_second_factor: needsSecondFactor } = found(await findWorkspace(tx, id));
  return { id, name, role, needsSecondFactor };
}
