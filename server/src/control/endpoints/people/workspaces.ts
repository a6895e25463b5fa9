import { Workspace, WorkspaceChange } from '@millrace/contract/control';
import { findWorkspace, renameWorkspace } from '../../../store/workspaces.ts';
import { found } from '../../problems/problems.ts';
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
];

async function readWorkspace({ tx, actor }: ApiRequest) {
  const { id, name, created_at } = found(await findWorkspace(tx, actor.workspaceId));
  return { id, name, createdAt: created_at.toISOString() };
}
