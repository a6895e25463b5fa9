import { Workspace, WorkspaceChange, WorkspaceTransfer } from '@millrace/contract/control';
import { countOtherOwners, countOwners, findMember, setMemberRole } from '../../../store/members.ts';
import { findWorkspace, renameWorkspace } from '../../../store/workspaces.ts';
import { ApiProblem, found } from '../../problems/problems.ts';
import { type ApiRequest, type Route, route } from '../../http/route.ts';

export const workspaceRoutes: Route[] = [
  route({
    method: 'GET',
    url: '/api/v1/workspace',
    summary: 'The workspace you are in',
    permission: 'workspace:read',
    answer: Workspace,
    status: 200,
    handle: readWorkspace,
  }),
  route({
    method: 'PATCH',
    url: '/api/v1/workspace',
    summary: 'Renames the workspace',
    permission: 'workspace:write',
    body: WorkspaceChange,
    answer: Workspace,
    status: 200,
    async handle(request) {
      const { tx, actor, body, audit } = request;
      await renameWorkspace(tx, { id: actor.workspaceId, name: body.name });
      await audit('workspace.changed', actor.workspaceId, { details: body });
      return readWorkspace(request);
    },
  }),
  route({
    method: 'POST',
    url: '/api/v1/workspace/transfer',
    summary: 'Makes another member an owner, and you an admin',
    permission: 'workspace:write',
    body: WorkspaceTransfer,
    answer: Workspace,
    status: 200,
    async handle(request) {
      const { tx, actor, body, audit } = request;
      const { workspaceId } = actor;
      // A token is no member, and has no role to step down from.
      if (actor.kind !== 'user') throw new ApiProblem('not_allowed');
      const member = found(await findMember(tx, { workspaceId, userId: body.userId }));
      if (member.user_id === actor.id) throw new ApiProblem('conflict');
      // Locks the owners' rows against a concurrent removal of the other one.
      await countOwners(tx, workspaceId);
      await setMemberRole(tx, { workspaceId, userId: member.user_id, role: 'owner' });
      // The last owner who reaches the workspace without its provider stays one.
      if ((await countOtherOwners(tx, { workspaceId, userId: actor.id })) === 0) throw new ApiProblem('last_owner');
      await setMemberRole(tx, { workspaceId, userId: actor.id, role: 'admin' });
      await audit('workspace.transferred', workspaceId, { details: { to: member.email } });
      return readWorkspace(request);
    },
  }),
];

async function readWorkspace({ tx, actor }: ApiRequest) {
  const { id, name, created_at } = found(await findWorkspace(tx, actor.workspaceId));
  return { id, name, createdAt: created_at.toISOString() };
}
