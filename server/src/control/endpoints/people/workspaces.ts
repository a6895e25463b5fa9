import { SecondFactorDemand, Workspace, WorkspaceChange, WorkspaceTransfer } from '@millrace/contract/control';
import { countOtherOwners, countOwners, findMember, setMemberRole } from '../../../store/members.ts';
import { hasFactor } from '../../../store/second-factors.ts';
import { findWorkspaceEnd } from '../../../store/workspace-ends.ts';
import { demandSecondFactor, findWorkspace, renameWorkspace, type WorkspaceRow } from '../../../store/workspaces.ts';
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
    method: 'PATCH',
    url: '/api/v1/workspace/second-factor',
    summary: 'Demands a second factor of every member, or no longer; you need one yourself',
    permission: 'members:write',
    body: SecondFactorDemand,
    answer: Workspace,
    status: 200,
    async handle(request) {
      const { tx, actor, body, audit } = request;
      await mustHaveFactor(request);
      await demandSecondFactor(tx, { id: actor.workspaceId, isNeeded: body.isNeeded });
      await audit('workspace.second_factor_changed', actor.workspaceId, { details: { isNeeded: body.isNeeded } });
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

/** A token has no second factor; the person who demands one shows that it can be done. */
async function mustHaveFactor({ tx, actor }: ApiRequest): Promise<void> {
  if (actor.kind !== 'user') throw new ApiProblem('not_allowed');
  if (await hasFactor(tx, actor.id)) return;
  const message = 'add a second factor to your own account first';
  throw new ApiProblem('second_factor_needed', [{ path: '/isNeeded', message }]);
}

async function readWorkspace({ tx, actor }: ApiRequest) {
  const row = found(await findWorkspace(tx, actor.workspaceId));
  return toWorkspace(row, await findWorkspaceEnd(tx, row.id));
}

export function toWorkspace({ id, name, created_at, needs_second_factor }: WorkspaceRow, end?: { ends_at: Date }) {
  const endsAt = end?.ends_at.toISOString() ?? null;
  return { id, name, createdAt: created_at.toISOString(), needsSecondFactor: needs_second_factor, endsAt };
}
