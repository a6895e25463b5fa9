/** Workspaces as a person has them: a new one, and leaving one. */
import { NewWorkspace, Workspace } from '@millrace/contract/control';
import { appendAudit } from '../../../store/audit-log.ts';
import { countOtherOwners, deleteMember, findMember, insertMember, membershipsOf } from '../../../store/members.ts';
import { findWorkspace } from '../../../store/workspaces.ts';
import { revokeMadeBy } from '../../access/maker-rights.ts';
import { type AccountRoute, accountRoute } from '../../http/account-route.ts';
import { mustBeOperatorIn } from '../../http/operator.ts';
import { ApiProblem, found } from '../../problems/problems.ts';
import { createWorkspace } from './create-workspace.ts';
import { toWorkspace } from './workspaces.ts';

/** Of one person. Each has its own shares of storage and processes, so their number has an end. */
const MAX_WORKSPACES = 50;

export const ownWorkspaceRoutes: AccountRoute[] = [
  accountRoute({
    method: 'POST',
    url: '/api/v1/workspaces',
    summary: 'Creates a workspace and makes you its owner; MILLRACE_CREATE_WORKSPACES says who may',
    access: 'user',
    body: NewWorkspace,
    answer: Workspace,
    status: 201,
    async handle({ who, body, address }, { store, now, workspaceCreation = 'operator' }) {
      const { userId, sessionId } = who;
      return store.asSystem(async (tx) => {
        if (workspaceCreation === 'operator') await mustBeOperatorIn(tx, { kind: 'user', id: userId });
        if ((await membershipsOf(tx, userId)).length >= MAX_WORKSPACES) throw tooMany();
        const actor = { kind: 'user', id: userId, sessionId, address };
        const id = await createWorkspace(tx, body.name, { at: now(), actor });
        await insertMember(tx, { workspaceId: id, userId, role: 'owner' });
        return { body: toWorkspace(found(await findWorkspace(tx, id))) };
      });
    },
  }),
  accountRoute({
    method: 'DELETE',
    url: '/api/v1/me/workspaces/:id',
    summary: 'Leaves a workspace; the tokens that you made there are revoked. The last owner cannot leave',
    access: 'user',
    status: 204,
    async handle({ who, params, address }, { store, now }) {
      const { userId, sessionId } = who;
      const workspaceId = params.id;
      await store.asSystem(async (tx) => {
        const member = found(await findMember(tx, { workspaceId, userId }));
        if (member.role === 'owner' && (await countOtherOwners(tx, { workspaceId, userId })) === 0)
          throw new ApiProblem('last_owner');
        await deleteMember(tx, { workspaceId, userId });
        const revokedTokens = await revokeMadeBy(tx, workspaceId, userId);
        const details = { email: member.email, role: member.role, revokedTokens };
        const actor = { kind: 'user', id: userId, sessionId, address };
        await appendAudit(tx, workspaceId, { at: now(), actor, action: 'member.left', objectId: userId, details });
      });
      return {};
    },
  }),
];

function tooMany(): ApiProblem {
  const message = `cannot be created: you are in ${MAX_WORKSPACES} workspaces; leave one first`;
  return new ApiProblem('invalid_request', [{ path: '/name', message }]);
}
